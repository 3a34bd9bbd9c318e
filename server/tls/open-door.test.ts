import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDir } from '#lib/testing/temp-dir';
import { createSystemClock } from '../base/clock.ts';
import { createErrorLog } from '../testing/error-log.ts';
import { makeCa, makeServerPair } from './make-certificates.ts';
import { type Network, openDoor } from './open-door.ts';

const NETWORK: Network = {
  ...{ host: '::', isOpen: true, isPlaintext: false, tls: { kind: 'own' } },
  ...{ publicUrl: undefined, trustedProxies: [] },
};

async function setup(more: Partial<Network> = {}) {
  const dataDir = tempDir();
  const open = (network: Partial<Network>) =>
    openDoor(
      { dataDir },
      { ...NETWORK, ...network },
      { clock: createSystemClock(), logger: createErrorLog().logger },
      () => 443,
    );
  return { dataDir, open, door: await open(more) };
}

test('[HT205] all ports of a name are held to https by a server at the default port alone, with a certificate that stays', async () => {
  const { dataDir, open, door } = await setup();
  expect(door.strictTransport('desk.local')).toBe(false);
  const proxied = await open({ tls: { kind: 'none' }, publicUrl: 'https://board.example' });
  expect(proxied.strictTransport('board.example')).toBe(true);
  for (const host of ['board.example:8443', 'other.example', 'localhost']) {
    expect(proxied.strictTransport(host), host).toBe(false);
  }
  const names = { names: ['board.example'], addresses: [] };
  const pair = await makeServerPair(await makeCa('x', Date.now()), names, Date.now());
  const [cert, key] = [join(dataDir, 'b.crt'), join(dataDir, 'b.key')];
  await Promise.all([writeFile(cert, pair.cert), writeFile(key, pair.key)]);
  const given = await open({ tls: { kind: 'given', cert, key } });
  expect(given.strictTransport('board.example')).toBe(true);
  expect(given.strictTransport('localhost')).toBe(false);
  expect(given.strictTransport('board.example:3000')).toBe(false);
});

test('[LN48] the hosts of a given certificate are among ours, as the same list until one changes', async () => {
  const { dataDir, open } = await setup();
  const names = { names: ['board.example'], addresses: [] };
  const pair = await makeServerPair(await makeCa('x', Date.now()), names, Date.now());
  const [cert, key] = [join(dataDir, 'b.crt'), join(dataDir, 'b.key')];
  await Promise.all([writeFile(cert, pair.cert), writeFile(key, pair.key)]);
  const given = await open({ tls: { kind: 'given', cert, key } });
  expect(given.machineHosts()).toContain('board.example');
  expect(given.machineHosts()).toBe(given.machineHosts());
  expect(given.trust()).toBeUndefined();
});
