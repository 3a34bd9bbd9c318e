import type { ServerResponse } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { serveHttp } from '#lib/net/testing/serve-http';
import { createRequestsInFlight } from './create-http.ts';

async function setup() {
  const waiting: ServerResponse[] = [];
  let arrived = () => {};
  const inFlight = createRequestsInFlight((_incoming, outgoing) => {
    waiting.push(outgoing);
    arrived();
  });
  const { origin, close } = await serveHttp(inFlight.onRequest);
  onTestFinished(close);
  const ask = async (signal?: AbortSignal) => {
    const came = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const answer = fetch(`${origin}/`, signal ? { signal } : {});
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
