// A tool with effects, by the client library; it survives a lost connection and its own end:
// CALLBOARD_TOKEN=$(cat .callboard/token) node examples/node-tool.mjs
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { continueOnRightNode } from '../server/bootstrap/right-node.mjs';

// The library is TypeScript: a Node that cannot load it starts this again by the one of `npm start`.
await continueOnRightNode(fileURLToPath(import.meta.url));
const { createNodeToolClient } = await import('../lib/client/node/node-client.ts');

const client = await createNodeToolClient({
  url: process.argv[2] ?? 'http://127.0.0.1:3000',
  token: process.env.CALLBOARD_TOKEN ?? '',
  name: 'Door',
  // Its identity and its journal: one directory for each program.
  dataDir: process.argv[3] ?? '.door',
  tools: [
    {
      name: 'door.open',
      description: 'Opens the door for some seconds',
      // It has effects: before the agent may call it, a person is asked.
      annotations: { readOnlyHint: false, destructiveHint: false },
      parameters: {
        type: 'object',
        properties: { seconds: { type: 'number', minimum: 0, maximum: 20, default: 1 } },
      },
      timeoutMs: 30_000,
      async run({ seconds = 1 }, { signal, status }) {
        status({ tip: 'The door is open', progress: { done: 0, total: 1 } });
        await pause(seconds * 1_000, undefined, { signal });
        return { output: { opened_for: seconds }, display: `Open for ${seconds} s` };
      },
    },
  ],
});
client.status.subscribe(({ state }) => {
  if (state === 'refused') process.exitCode = 1;
});
await client.start();
console.log('Ctrl+C to stop');
