import { expect, onTestFinished, test } from 'vitest';
import { createScriptedServer } from '../client/testing/scripted-server.ts';
import { PROTOCOL, SESSION_HEADER, toCredentialProtocol } from '../protocol/subprotocols.ts';
import { createStreamSocket } from './stream-socket.ts';

const probe = (nonce: string) => JSON.stringify({ type: 'probe', nonce });

async function open(protocols: readonly string[] = []) {
  const server = await createScriptedServer();
  onTestFinished(server.close);
  const asked: { url: string; init: RequestInit }[] = [];
  const ask = (url: string, init: RequestInit) => {
    asked.push({ url, init });
    return fetch(url, init);
  };
  const socket = createStreamSocket(ask, `${server.url}/ws/client`, protocols);
  const messages: unknown[] = [];
  const opened = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<{ code: number; reason: string }>();
  socket.addEventListener('open', opened.resolve);
  socket.addEventListener('message', ({ data }) => messages.push(data));
  socket.addEventListener('close', ({ code, reason }) => closed.resolve({ code, reason }));
  const link = await server.accept();
  await opened.promise;
  const posts = () => asked.filter(({ init }) => init.method === 'POST');
  return { server, socket, link, asked, posts, messages, closed: closed.promise };
}

const noncesOf = async (link: Awaited<ReturnType<typeof open>>['link'], last: string) => {
  while ((await link.next('probe')).nonce !== last);
  return link.all.map((message) => (message.type === 'probe' ? message.nonce : message.type));
};

test('[CL63] the credential of the socket becomes a header', async () => {
  const { asked } = await open([PROTOCOL, toCredentialProtocol('bearer', 'a/b=c')]);
  expect(asked[0]?.url).toMatch(/^http:.*\/internal\/stream$/);
  expect(asked[0]?.init.headers).toMatchObject({ authorization: 'Bearer a/b=c' });
  const signedIn = await open([PROTOCOL, toCredentialProtocol('session', 'key')]);
  expect(signedIn.asked[0]?.init.headers).toMatchObject({ [SESSION_HEADER]: 'key' });
  expect(signedIn.asked[0]?.init.headers).not.toHaveProperty('authorization');
});

test('[CL63] each message comes as it was sent, however the bytes are cut', async () => {
  const { link, messages } = await open();
  const texts = ['{"a":"\u2028 é 🦞"}', `{"long":"${'ü'.repeat(300_000)}"}`, '{"b":1}'];
  for (const text of texts) link.send(text);
  await expect.poll(() => messages.length).toBe(3);
  expect(messages).toEqual(texts);
});

test('[CL64] what is sent in one task goes together, and what comes meanwhile with the next one', async () => {
  const { socket, link, posts } = await open();
  for (let n = 0; n < 3; n += 1) socket.send(probe(`a${n}`));
  await noncesOf(link, 'a2');
  for (let n = 0; n < 2_500; n += 1) socket.send(probe(`b${n}`));
  const nonces = await noncesOf(link, 'b2499');
  expect(nonces).toEqual(
    [0, 1, 2].map((n) => `a${n}`).concat(Array.from({ length: 2_500 }, (_, n) => `b${n}`)),
  );
  // A request has at most a thousand.
  expect(posts()).toHaveLength(4);
});

test('[CL64] a large message goes alone', async () => {
  const { socket, link, posts } = await open();
  const large = JSON.stringify({ type: 'tool_error', id: 'tc_1', error: 'x'.repeat(900_000) });
  for (const text of [probe('a'), large, large, probe('b')]) socket.send(text);
  await noncesOf(link, 'b');
  expect(posts()).toHaveLength(2);
});

test('[CL65] a request whose response was lost is sent again, and handled once', async () => {
  const { server, socket, link, posts } = await open();
  server.loseResponses(1);
  socket.send(probe('a'));
  await expect.poll(() => posts().length).toBe(2);
  socket.send(probe('b'));
  expect(await noncesOf(link, 'b')).toEqual(['a', 'b']);
  expect(posts().map(({ init }) => init.body)).toEqual([
    `{"seq":1,"messages":[${probe('a')}]}`,
    `{"seq":1,"messages":[${probe('a')}]}`,
    `{"seq":2,"messages":[${probe('b')}]}`,
  ]);
});

test('[CL65] lost twice, the stream is at its end, and nothing more is sent', async () => {
  const { server, socket, posts, closed } = await open();
  server.loseResponses(2);
  socket.send(probe('a'));
  socket.send(probe('b'));
  expect((await closed).code).toBe(1006);
  socket.send(probe('c'));
  await Promise.resolve();
  expect(posts()).toHaveLength(2);
});

test('[CL66] the end has the code and the reason of the server, or that of a broken line', async () => {
  const [closed, cut] = [await open(), await open()];
  closed.link.close(4401, 'signed out');
  expect(await closed.closed).toEqual({ code: 4401, reason: 'signed out' });
  cut.link.cut();
  expect(await cut.closed).toEqual({ code: 1006, reason: '' });
});

test('[CL66] closed from here, the server learns of it', async () => {
  const { socket, link, closed } = await open();
  socket.close(4000, 'given up');
  expect(await closed).toEqual({ code: 4000, reason: 'given up' });
  await link.closed;
});
