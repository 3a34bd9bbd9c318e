import { expect, onTestFinished, test } from 'vitest';
import { tempDir } from '#lib/testing/temp-dir';
import { serveHttp } from '../../net/testing/serve-http.ts';
import { createManualClock } from '../testing/manual-clock.ts';
import { createNodeToolClient, watchForSleep } from './node-client.ts';

/** A client of that server whose first problem is awaited. */
async function firstProblem(url: string): Promise<string> {
  const dataDir = tempDir();
  const problem = Promise.withResolvers<string>();
  const client = await createNodeToolClient({
    ...{ url, token: 'the-wrong-token-it-is', name: 'door', tools: [], dataDir },
    onProblem: problem.resolve,
  });
  onTestFinished(() => client.stop());
  await client.start();
  return problem.promise;
}

const listen = () => serveHttp((_, response) => response.writeHead(401).end());

test('[CL41] a refused credential is reported', async () => {
  const { origin: url, close } = await listen();
  onTestFinished(close);
  expect(await firstProblem(url)).toBe(
    `${url} refuses this client: the credential was not accepted. It does not try again; give it the token of the server`,
  );
});

test('[CL41] a server that is not there is reported', async () => {
  const { origin: url, close } = await listen();
  await close();
  expect(await firstProblem(url)).toBe(
    `there is no connection to ${url}; trying again until there is one`,
  );
});

test('[LN50] T32: a program is not connected to a server of the network without TLS', async () => {
  const dataDir = tempDir();
  const options = { token: 'a-token-of-a-device', name: 'door', tools: [], dataDir };
  await expect(
    createNodeToolClient({ ...options, url: 'http://192.168.1.5:3000' }),
  ).rejects.toMatchObject({ code: 'insecure_transport' });
});

test('[CL28] a jump between two ticks is told, time that goes its way is not', () => {
  const clock = createManualClock();
  let wakes = 0;
  const stop = watchForSleep(clock, () => {
    wakes += 1;
  });
  clock.advance(60_000);
  expect(wakes).toBe(0);
  clock.freeze(30_000);
  clock.advance(0);
  expect(wakes).toBe(1);
  stop();
  clock.freeze(30_000);
  clock.advance(60_000);
  expect(wakes).toBe(1);
});
