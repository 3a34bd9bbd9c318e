import { X509Certificate } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SecureContextOptions } from 'node:tls';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { createManualClock } from '#lib/client/testing/manual-clock';
import { tempDir } from '#lib/testing/temp-dir';
import { createErrorLog } from '../testing/error-log.ts';
import { openCertificates } from './certificates.ts';
import type { MachineNames } from './machine-names.ts';
import { makeCa, makeServerPair } from './make-certificates.ts';

const DAY_MS = 24 * 60 * 60_000;
const MINUTE_MS = 60_000;
let dataDir = '';
let machine: MachineNames;

beforeEach(() => {
  dataDir = tempDir();
  machine = { names: ['localhost', 'desk'], addresses: ['127.0.0.1', '::1', '192.168.1.5'] };
});

async function open(given?: { cert: string; key: string }, startAt = Date.now()) {
  const clock = createManualClock(startAt);
  const { logger, errors } = createErrorLog();
  const certificates = await openCertificates({
    ...{ dataDir, given, clock, logger },
    machine: () => machine,
  });
  return { clock, errors, certificates };
}

const leafOf = ({ cert }: SecureContextOptions) => new X509Certificate(String(cert));

test('[LN20] the first start makes a CA and a certificate for all names of the machine, for their owner alone', async () => {
  const { certificates } = await open();
  const [ca, leaf] = [certificates.ca(), leafOf(certificates.context())];
  if (!ca) throw new Error('There is a CA');
  expect(ca.ca).toBe(true);
  expect(ca.verify(ca.publicKey)).toBe(true);
  expect(leaf.ca).toBe(false);
  expect(leaf.checkIssued(ca) && leaf.verify(ca.publicKey)).toBe(true);
  for (const name of machine.names) expect(leaf.checkHost(name)).toBe(name);
  for (const address of machine.addresses) expect(leaf.checkIP(address)).toBeDefined();
  expect(leaf.checkHost('elsewhere')).toBeUndefined();
  const life = Date.parse(leaf.validTo) - Date.parse(leaf.validFrom);
  expect(life / DAY_MS).toBeLessThanOrEqual(397);
  const left = Date.parse(ca.validTo) - Date.now();
  expect(left / DAY_MS).toBeGreaterThan(3_640);
  expect((await stat(join(dataDir, 'tls'))).mode & 0o777).toBe(0o700);
  for (const name of ['ca.key', 'ca.crt', 'server.key', 'server.crt']) {
    expect((await stat(join(dataDir, 'tls', name))).mode & 0o777, name).toBe(0o600);
  }
});

test('[LN21] a restart keeps both', async () => {
  const first = (await open()).certificates;
  const second = (await open()).certificates;
  expect(second.context()).toEqual(first.context());
  expect(second.ca()?.fingerprint256).toBe(first.ca()?.fingerprint256);
});

test('[LN22] while it runs a certificate follows a new address of the machine, by the same CA', async () => {
  const { certificates, clock } = await open();
  const changes: SecureContextOptions[] = [];
  onTestFinished(certificates.follow((context) => changes.push(context)));
  clock.advance(MINUTE_MS);
  machine = { ...machine, addresses: [...machine.addresses, '10.0.0.9'] };
  await expect
    .poll(() => {
      clock.advance(MINUTE_MS);
      return changes.length;
    })
    .toBe(1);
  expect(changes[0] && leafOf(changes[0]).checkIP('10.0.0.9')).toBeDefined();
  expect(leafOf(certificates.context()).verify(certificates.ca()?.publicKey as never)).toBe(true);
});

test('[LN23] thirty days before its end a certificate is made anew, by the same CA', async () => {
  const now = Date.now();
  const before = (await open()).certificates;
  const same = (await open(undefined, now + 360 * DAY_MS)).certificates;
  expect(same.context()).toEqual(before.context());
  const after = (await open(undefined, now + 370 * DAY_MS)).certificates;
  expect(after.context()).not.toEqual(before.context());
  expect(after.ca()?.fingerprint256).toBe(before.ca()?.fingerprint256);
});

test('[LN24] what cannot be read, or does not fit, is made again', async () => {
  const first = (await open()).certificates.ca()?.fingerprint256;
  await writeFile(join(dataDir, 'tls', 'server.key'), 'half a k');
  const second = (await open()).certificates;
  expect(second.ca()?.fingerprint256).toBe(first);
  const untrusted = await makeServerPair(await makeCa('x', Date.now()), machine, Date.now());
  await writeFile(join(dataDir, 'tls', 'server.crt'), untrusted.cert);
  await writeFile(join(dataDir, 'tls', 'server.key'), untrusted.key);
  const third = (await open()).certificates;
  expect(leafOf(third.context()).verify(third.ca()?.publicKey as never)).toBe(true);
});

async function writeGiven(name: string, now = Date.now()) {
  const pair = await makeServerPair(await makeCa(name, now), machine, now);
  const files = { cert: join(dataDir, `${name}.crt`), key: join(dataDir, `${name}.key`) };
  await writeFile(files.cert, pair.cert);
  await writeFile(files.key, pair.key);
  return files;
}

test('[LN25] a given pair that is wrong stops the start with a line that names the file and the fault', async () => {
  const [right, other] = [await writeGiven('right'), await writeGiven('other')];
  const nowhere = join(dataDir, 'nowhere');
  const empty = join(dataDir, 'empty');
  await writeFile(empty, '');
  const old = await writeGiven('old', Date.now() - 500 * DAY_MS);
  for (const [given, line] of [
    [{ ...right, cert: nowhere }, /^--cert .*nowhere cannot be read \(ENOENT\)$/],
    [{ ...right, cert: empty }, /^--cert .*empty holds no certificate as PEM$/],
    [{ ...right, key: empty }, /^--key .*empty holds no private key/],
    [{ ...right, key: other.key }, /^--key .*other\.key is not the key of .*right\.crt$/],
    [old, /^--cert .*old\.crt holds a certificate that expired on /],
  ] as const) {
    await expect(open(given)).rejects.toThrow(line);
  }
  const { certificates } = await open(right);
  expect(certificates.ca()).toBeUndefined();
});

test('[LN26] given files are read again while it runs; a pair that is wrong by then changes nothing', async () => {
  const files = await writeGiven('given');
  const { certificates, clock, errors } = await open(files);
  const before = certificates.context();
  const changes: SecureContextOptions[] = [];
  onTestFinished(certificates.follow((context) => changes.push(context)));
  const next = await writeGiven('next');
  await writeFile(files.cert, await readFile(next.cert));
  const later = () => {
    clock.advance(MINUTE_MS);
    return [changes.length, errors.length > 0];
  };
  await expect.poll(later).toEqual([0, true]);
  expect(certificates.context()).toEqual(before);
  await writeFile(files.key, await readFile(next.key));
  await expect.poll(later).toEqual([1, true]);
  expect(certificates.context()).not.toEqual(before);
});
