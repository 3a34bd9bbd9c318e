// A tool from a program of your own, over a plain WebSocket:
// CALLBOARD_TOKEN=$(cat .callboard/token) node examples/ws-tool.mjs
import { WebSocket } from 'ws';

const headers = { authorization: `Bearer ${process.env.CALLBOARD_TOKEN}` };
const socket = new WebSocket(process.argv[2] ?? 'ws://127.0.0.1:3000/ws/client', { headers });
const send = (message) => socket.send(JSON.stringify(message));
const parameters = { type: 'object', properties: { sides: { type: 'integer', minimum: 2 } } };
// It changes nothing, so the agent may call it without a person's yes.
const annotations = { readOnlyHint: true };
const dice = { name: 'dice.roll', description: 'Rolls a die', parameters, annotations };

socket.on('open', () => send({ type: 'hello', name: 'Dice', kind: 'program' }));
socket.on('open', () => send({ type: 'register_tools', tools: [dice] }));
socket.on('error', ({ message }) => {
  const isRefused = /\b40[13]$/.test(message);
  const words = 'CALLBOARD_TOKEN must be the token of a person with the role operator or admin';
  console.error(isRefused ? `${message}: ${words}` : message);
  process.exitCode = 1;
});
socket.on('close', (code) => console.error(`The connection has ended (${code}).`));
socket.on('message', (data) => {
  const message = JSON.parse(data);
  if (message.type === 'welcome') return;
  if (message.type !== 'tool_call_request') return console.log(message);
  const { id, args } = message;
  send({ type: 'tool_status', id, tip: 'Rolling…' });
  const output = 1 + Math.floor(Math.random() * (args.sides ?? 6));
  send({ type: 'tool_result', id, success: true, output });
});
