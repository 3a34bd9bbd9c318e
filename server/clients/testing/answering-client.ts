import { parentPort, workerData } from 'node:worker_threads';
import { WebSocket } from 'ws';

/**
 * A client in a thread of its own, so that it goes on while the server's thread
 * stands still. It says when it is asked, and answers a moment later.
 */
const { url, claims, answerAfterMs } = workerData as {
  url: string;
  claims: boolean;
  answerAfterMs: number;
};
const socket = new WebSocket(url);
const send = (message: object) => socket.send(JSON.stringify(message));

socket.on('open', () => {
  send({ type: 'hello', client_id: 'c', caps: claims ? ['claim', 'probe'] : ['probe'] });
  const parameters = { type: 'object' };
  send({
    type: 'register_tools',
    tools: [{ name: 'echo', description: 'Echoes', parameters, timeout_ms: 400 }],
  });
});
socket.on('message', (data) => {
  const message = JSON.parse(String(data)) as { type: string; id: string; nonce: string };
  if (message.type === 'tools_registered') parentPort?.postMessage('ready');
  if (message.type === 'probe') send({ type: 'probe_ack', nonce: message.nonce });
  if (message.type !== 'tool_call_request') return;
  const { id } = message;
  const answer = () => {
    if (claims) send({ type: 'tool_call_claim', id, attempt: 1 });
    else send({ type: 'tool_result', id, output: 'in time', success: true });
  };
  parentPort?.postMessage('asked');
  setTimeout(answer, answerAfterMs);
});
