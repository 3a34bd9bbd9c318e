import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createManualClock } from '../testing/manual-clock.ts';
import { createNodeToolClient, watchForSleep } from './node-client.ts';

/** A client of that server whose first problem is awaited. */
async function firstProblem(url: string): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'callboard-client-'));
  const problem = Promise.withResolvers<string>();
  const client = await createNodeToolClient({
    ...{ url, token: 'the-wrong-token-it-is', name: 'door', tools: [], dataDir },
    onProblem: problem.resolve,
  });
  onTestFinished(async () => {
    await client.stop();
    await rm(dataDir, { recursive: true });
  });
  await client.start();
  return problem.promise;
}

async function listen(): Promise<{ url: string; close(): void }> {
  const server = createServer((_, response) => response.writeHead(401).end());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => void server.close() };
}

test('[CL41] a refused credential is reported', async () => {
  const server = await listen();
  onTestFinished(server.close);
  expect(await firstProblem(server.url)).toBe(
    `${server.url} refuses this client: the credential was not accepted. It does not try again; give it the token of the server`,
  );
});

test('[CL41] a server that is not there is reported', async () => {
  const server = await listen();
  server.close();
  expect(await firstProblem(server.url)).toBe(
    `there is no connection to ${server.url}; trying again until there is one`,
  );
});

test('[LN50] T32: a program is not connected to a server of the network without TLS', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'callboard-client-'));
  onTestFinished(() => rm(dataDir, { recursive: true }));
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
