// Drives a server with @a2a-js/sdk and prints what came back, step by step, as JSON.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { SendMessageRequest, StreamResponse, Task, AgentCard } from "@a2a-js/sdk";
import { ClientFactory, JsonRpcTransportFactory, RestTransportFactory } from "@a2a-js/sdk/client";

const [url, binding] = process.argv.slice(2);
const transport =
  binding === "JSONRPC" ? new JsonRpcTransportFactory() : new RestTransportFactory();
const client = await new ClientFactory({ transports: [transport] }).createFromUrl(url);

const request = (parts, { configuration, ...fields } = {}) =>
  SendMessageRequest.fromJSON({
    message: { messageId: randomUUID(), role: "ROLE_USER", parts, ...fields },
    configuration,
  });
const text = (value) => [{ text: value }];
const send = async (...args) => Task.toJSON(await client.sendMessage(request(...args)));
const frames = async (stream) => {
  const seen = [];
  for await (const frame of stream) seen.push(StreamResponse.toJSON(frame));
  return seen;
};

async function cancelWhileFollowed() {
  const started = client.sendMessageStream(request(text("wait")));
  const first = StreamResponse.toJSON((await started.next()).value);
  const followed = client.resubscribeTask({ id: first.task.id, tenant: "" });
  const joined = StreamResponse.toJSON((await followed.next()).value);
  const canceled = Task.toJSON(await client.cancelTask({ id: first.task.id, tenant: "" }));
  return { first, joined, canceled, followed: await frames(followed), rest: await frames(started) };
}

async function pauseAndResume() {
  const paused = await send(text("ask"));
  const resumed = await send(text("blue"), { taskId: paused.id, contextId: paused.contextId });
  return { paused, resumed };
}

async function pushed() {
  const received = [];
  let ended;
  const end = new Promise((resolve) => (ended = resolve));
  const webhook = createServer(async (incoming, answer) => {
    const chunks = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const body = JSON.parse(Buffer.concat(chunks).toString());
    received.push({ token: incoming.headers["x-a2a-notification-token"], body });
    answer.writeHead(200).end();
    if (body.statusUpdate?.status?.state === "TASK_STATE_COMPLETED") ended();
  });
  await new Promise((resolve) => webhook.listen(0, "127.0.0.1", resolve));
  const hook = `http://127.0.0.1:${webhook.address().port}/hook`;
  const paused = await send(text("ask"));
  const config = { id: "hook-1", taskId: paused.id, url: hook, token: "secret-1", tenant: "" };
  const created = await client.createTaskPushNotificationConfig(config);
  const named = { id: "hook-1", taskId: paused.id, tenant: "" };
  const got = await client.getTaskPushNotificationConfig(named);
  const all = { taskId: paused.id, tenant: "", pageSize: 0, pageToken: "" };
  const listed = await client.listTaskPushNotificationConfig(all);
  await send(text("blue"), { taskId: paused.id });
  await Promise.race([end, new Promise((resolve) => setTimeout(resolve, 10_000))]);
  await client.deleteTaskPushNotificationConfig(named);
  const left = await client.listTaskPushNotificationConfig(all);
  webhook.close();
  return { hook, created, got, listed: listed.configs, left: left.configs, received };
}

const files = [
  { text: "files" },
  { raw: Buffer.from("bytes in").toString("base64"), filename: "in.bin", mediaType: "image/gif" },
  { url: "https://files.example/in.pdf", filename: "in.pdf", mediaType: "application/pdf" },
  { data: { colour: "blue", count: 2 } },
];
const steps = {
  card: async () => AgentCard.toJSON(await client.getAgentCard()),
  sent: () => send(text("hello")),
  files: () => send(files),
  streamed: () => frames(client.sendMessageStream(request(text("count")))),
  canceled: cancelWhileFollowed,
  paused: pauseAndResume,
  pushed,
};
const outcome = { binding: client.transport.protocolName };
for (const [name, step] of Object.entries(steps)) {
  try {
    outcome[name] = await step();
  } catch (error) {
    outcome[name] = { failed: `${error?.stack ?? error}` };
  }
}
process.stdout.write(JSON.stringify(outcome), () => process.exit(0));
