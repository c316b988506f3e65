// Feeds each recorded answer on stdin to the client and prints how its run ended.
const { HttpAgent } = await import(process.argv[2]);
console.warn = console.debug = console.error = () => {};

let given = "";
for await (const chunk of process.stdin) given += chunk;

const ended = async ({ body, contentType }) => {
  const fetch = async () => new Response(body, { headers: { "content-type": contentType } });
  const agent = new HttpAgent({ url: "http://agent/agui", fetch, threadId: "t" });
  try {
    await agent.runAgent({ runId: "r" });
  } catch (error) {
    return { rejected: String(error.message ?? error) };
  }
  return { messages: agent.messages, state: agent.state };
};

const answers = [];
for (const answer of JSON.parse(given)) answers.push(await ended(answer));
console.log(JSON.stringify(answers));
