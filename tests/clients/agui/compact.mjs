// Compacts each of the streams on stdin with the client's own function.
import { compactEvents } from "agui-1";

let given = "";
for await (const chunk of process.stdin) given += chunk;
console.warn = () => {};
console.log(JSON.stringify(JSON.parse(given).map((events) => compactEvents(events))));
