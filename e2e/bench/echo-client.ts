import { once } from 'node:events';
import { WebSocket } from 'ws';

/** A tool client as plain as can be: it answers each request with its arguments. */
export async function connectEcho(url: string, token?: string): Promise<{ close(): void }> {
  const socket = new WebSocket(url, {
    perMessageDeflate: false,
    headers: token ? { authorization: `Bearer ${token}` } : {},
  });
  const registered = new Promise<void>((resolve) => {
    socket.on('message', (data) => {
      const message = JSON.parse(String(data));
      if (message.type === 'tools_registered') resolve();
      if (message.type !== 'tool_call_request') return;
      const { id, args } = message;
      socket.send(JSON.stringify({ type: 'tool_result', id, output: args, success: true }));
    });
  });
  await once(socket, 'open');
  if (token !== undefined) {
    const echo = {
      name: 'echo',
      description: 'Gives back its arguments',
      parameters: { type: 'object' },
    };
    socket.send(JSON.stringify({ type: 'register_tools', tools: [echo] }));
    await registered;
  }
  return { close: () => socket.terminate() };
}
