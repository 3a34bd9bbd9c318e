import { once } from 'node:events';
import { WebSocket } from 'ws';
import { type Kind, TOOL_OF } from './kinds.ts';

/**
 * A tool client as plain as can be: it answers each request with its arguments, or with `large.output`.
 * Without a kind it registers nothing.
 */
export async function connectEcho(
  url: string,
  options: { kind?: Kind; token?: string; large?: { name: string; output: unknown } } = {},
): Promise<{ close(): void }> {
  const { kind, token, large } = options;
  const socket = new WebSocket(url, {
    perMessageDeflate: false,
    headers: token ? { authorization: `Bearer ${token}` } : {},
  });
  const send = (message: object) => socket.send(JSON.stringify(message));
  const claimed = new Map<string, unknown>();
  const answer = (id: string, output: unknown) =>
    send({ type: 'tool_result', id, output, success: true });
  const registered = new Promise<void>((resolve) => {
    socket.on('message', (data) => {
      const message = JSON.parse(String(data));
      const { type, id, attempt, args } = message;
      if (type === 'tools_registered') resolve();
      if (type === 'tool_call_request' && kind === 'claiming') {
        claimed.set(id, args);
        send({ type: 'tool_call_claim', id, attempt });
      } else if (type === 'tool_call_request') answer(id, large ? large.output : args);
      if (type !== 'tool_call_granted') return;
      answer(id, claimed.get(id));
      claimed.delete(id);
    });
  });
  await once(socket, 'open');
  if (kind) {
    if (kind === 'claiming') send({ type: 'hello', caps: ['claim'] });
    const tool = {
      name: large?.name ?? TOOL_OF[kind],
      description: 'Gives back its arguments',
      parameters: { type: 'object' },
      ...(kind === 'read-only' ? { annotations: { readOnlyHint: true } } : {}),
    };
    send({ type: 'register_tools', tools: [tool] });
    await registered;
  }
  return { close: () => socket.terminate() };
}

/** A client of each kind. */
export async function connectEchoes(
  url: string,
  kinds: readonly Kind[],
  token: string,
): Promise<{ close(): void }> {
  const clients = await Promise.all(kinds.map((kind) => connectEcho(url, { kind, token })));
  return {
    close() {
      for (const client of clients) client.close();
    },
  };
}
