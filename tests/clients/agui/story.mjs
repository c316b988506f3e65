// Runs each agent with HttpAgent and prints what the client ended up with.
const [packageName, urls] = [process.argv[2], JSON.parse(process.argv[3])];
const { HttpAgent } = await import(packageName);
console.warn = () => {};
console.debug = () => {};

const newAgent = (name, threadId) => new HttpAgent({ url: `${urls[name]}/agui`, threadId });

const run = async (agent, parameters = {}) => {
  const kinds = [];
  const result = { kinds };
  const subscriber = {
    onEvent: ({ event }) => void kinds.push(event.type),
    onRunFinishedEvent: ({ event }) => void (result.outcome = event.outcome),
    onRunErrorEvent: ({ event }) => void (result.error = { message: event.message, code: event.code }),
  };
  try {
    const { newMessages } = await agent.runAgent(parameters, subscriber);
    result.newMessages = newMessages;
  } catch (error) {
    result.rejected = String(error.message ?? error);
  }
  result.messages = structuredClone(agent.messages);
  result.state = structuredClone(agent.state);
  return result;
};

const addUserMessage = (agent, id, content) => agent.addMessage({ id, role: "user", content });

const story = {};

const hello = newAgent("hello", "thread-hello");
addUserMessage(hello, "u1", "hi");
story.hello = await run(hello);
addUserMessage(hello, "u2", "again");
story.again = await run(hello);

const weather = newAgent("weather", "thread-weather");
addUserMessage(weather, "u1", "weather?");
story.weather = await run(weather);

const failing = newAgent("failing", "thread-failing");
addUserMessage(failing, "u1", "go");
story.failing = await run(failing);

const tools = [
  { name: "get_location", description: "Where the user is.", parameters: { type: "object" } },
];
const locating = newAgent("locating", "thread-locating");
addUserMessage(locating, "u1", "where am I?");
story.locating = await run(locating, { tools });
locating.addMessage({ id: "t1", role: "tool", toolCallId: "call_7", content: "Oakland" });
story.located = await run(locating, { tools });

const approving = newAgent("approving", "thread-approving");
addUserMessage(approving, "u1", "send 5");
story.approving = await run(approving, { forwardedProps: { interrupts: true } });
const interrupts = story.approving.outcome?.interrupts ?? [];
story.unanswered = await run(approving);
story.approved = await run(approving, {
  resume: interrupts.map(({ id }) => ({
    interruptId: id,
    status: "resolved",
    payload: { confirmed: true },
  })),
});

const slow = newAgent("slow", "thread-slow");
addUserMessage(slow, "u1", "wait");
const aborted = slow.runAgent({}, { onTextMessageContentEvent: () => void slow.abortRun() });
await aborted.catch(() => undefined);

console.log(JSON.stringify(story));
