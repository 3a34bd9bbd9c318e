// For hosts of MCP that start a program and talk over its stdin and stdout:
// CALLBOARD_URL=http://127.0.0.1:3000 CALLBOARD_TOKEN=<of an agent> node examples/mcp-stdio.mjs
import { createInterface } from 'node:readline';

const { CALLBOARD_URL = 'http://127.0.0.1:3000', CALLBOARD_TOKEN } = process.env;
if (!CALLBOARD_TOKEN) {
  console.error(
    'CALLBOARD_TOKEN is not set: it must be a token of the kind "agent" (Settings → Access)',
  );
  process.exit(1);
}
const url = new URL('/mcp', CALLBOARD_URL);
let session;
let version;

function print(message) {
  version ??= message.result?.protocolVersion;
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

function request(method, { body, accept = 'application/json, text/event-stream' } = {}) {
  const headers = { accept, authorization: `Bearer ${CALLBOARD_TOKEN}` };
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (session !== undefined) headers['mcp-session-id'] = session;
  if (version !== undefined) headers['mcp-protocol-version'] = version;
  return fetch(url, { method, headers, body });
}

/** Prints each message of an answer: JSON, or one for each event of a stream. */
async function printAll(response) {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    const text = await response.text();
    if (text !== '') print(JSON.parse(text));
    return;
  }
  let unread = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const events = (unread + chunk).split('\n\n');
    unread = events.pop();
    for (const event of events) {
      const data = event.split('\n').find((line) => line.startsWith('data: '));
      if (data !== undefined) print(JSON.parse(data.slice(6)));
    }
  }
}

/** Notifications; the server may end the stream, and answers one again after a restart. */
async function follow() {
  for (;;) {
    try {
      await printAll(await request('GET', { accept: 'text/event-stream' }));
    } catch (error) {
      console.error(String(error));
    }
    await new Promise((again) => setTimeout(again, 2_000).unref());
  }
}

async function forward(line) {
  const message = JSON.parse(line);
  try {
    const response = await request('POST', { body: line });
    if (message.method === 'initialize' && response.ok) {
      session = response.headers.get('mcp-session-id') ?? undefined;
      void follow();
    }
    if (response.ok) return await printAll(response);
    throw new Error(`${response.status} ${await response.text()}`);
  } catch (error) {
    console.error(String(error));
    if (message.id === undefined) return;
    print({ jsonrpc: '2.0', id: message.id, error: { code: -32_603, message: String(error) } });
  }
}

createInterface({ input: process.stdin })
  .on('line', (line) => void forward(line))
  .once('close', () => process.exit(0));
