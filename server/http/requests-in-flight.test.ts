import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { createRequestsInFlight } from './create-http.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function setup() {
  const waiting: ServerResponse[] = [];
  let arrived = () => {};
  const inFlight = createRequestsInFlight((_incoming, outgoing) => {
    waiting.push(outgoing);
    arrived();
  });
  const server = createServer(inFlight.onRequest).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => server.close().closeAllConnections());
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const ask = async (signal?: AbortSignal) => {
    const came = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const answer = fetch(`http://127.0.0.1:${port}/`, signal ? { signal } : {});
    await came;
    return { answer: answer.then((one) => one.text()) };
  };
  return { ...inFlight, waiting, ask };
}

test('[HT33] it is over when the last request is answered, or its caller has left', async () => {
  const { answered, waiting, ask } = await setup();
  await answered(60_000);
  const caller = new AbortController();
  const first = await ask();
  const abandoned = await ask(caller.signal);
  let isOver = false;
  const over = answered(60_000).then(() => {
    isOver = true;
  });
  waiting[0]?.end('first');
  expect(await first.answer).toBe('first');
  expect(isOver).toBe(false);
  caller.abort();
  await expect(abandoned.answer).rejects.toThrow('abort');
  await over;
});

test('[HT33] who never gets an answer does not keep it from ending', async () => {
  const { answered, ask, waiting } = await setup();
  const { answer } = await ask();
  await answered(5);
  expect(waiting[0]?.writableEnded).toBe(false);
  waiting[0]?.end();
  await answer;
});
