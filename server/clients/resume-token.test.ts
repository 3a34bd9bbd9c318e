import { once } from 'node:events';
import { expect, test } from 'vitest';
import type { ServerMessage } from '#lib/protocol/server-messages';
import { serveClients } from './testing/serve-clients.ts';

/** The server with a disk that commits nothing while it is held. */
async function setup() {
  let held: (() => void)[] | undefined;
  const server = await serveClients({
    schedule: (flush) => void (held ? held.push(flush) : setImmediate(flush)),
  });

  async function connect(hello: object) {
    const { socket, inbox: came, send } = await server.connect<ServerMessage>();
    const next = async <T extends ServerMessage['type']>(type: T) => {
      const isWanted = (one: ServerMessage): one is Extract<ServerMessage, { type: T }> =>
        one.type === type;
      for (;;) {
        const found = came.find(isWanted);
        if (found) return found;
        await once(socket, 'message');
      }
    };
    send({ type: 'hello', client_id: 'phone', ...hello });
    return { send, next, vanish: () => socket.terminate() };
  }

  return {
    connect,
    holdDisk() {
      held = [];
    },
    letDisk() {
      for (const flush of held?.splice(0) ?? []) flush();
      held = undefined;
    },
  };
}

test('[ID3] once a client has spoken the token before is over, also while the disk is slow', async () => {
  const { connect, holdDisk, letDisk } = await setup();
  const first = await connect({});
  const { resume_token: old } = await first.next('welcome');
  first.vanish();
  const second = await connect({ resume_token: old });
  expect(await second.next('welcome')).toMatchObject({ resumed: true });
  holdDisk();
  second.send({ type: 'probe', nonce: 'spoken' });
  await second.next('probe_ack');
  const intruder = await connect({ resume_token: old });
  // Time for its hello to be read; a machine that needs more only makes this easier.
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
  letDisk();
  const welcome = await intruder.next('welcome');
  expect(welcome.resumed).toBe(false);
  expect(welcome.client_id).not.toBe('phone');
});
