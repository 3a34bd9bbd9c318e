import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDir } from '#lib/testing/temp-dir';
import { createFileIdentity } from './file-identity.ts';

let made = 0;
function open(path: string) {
  const problems: string[] = [];
  const newId = () => {
    made += 1;
    return `id-${made}`;
  };
  return {
    ...createFileIdentity({ path, newId, onProblem: (text) => problems.push(text) }),
    problems,
  };
}

test('[CL26] a program comes back as the same client and instance', async () => {
  const dir = tempDir();
  const path = join(dir, 'client.json');
  const first = open(path);
  const instance = await first.instanceId.take();
  expect(first.identity.clientId()).toBeUndefined();
  first.identity.save({ clientId: 'c1', resumeToken: 't1', instanceId: 'i' });
  first.identity.save({ clientId: 'c1', resumeToken: 't2', instanceId: 'i' });
  const second = open(path);
  expect([second.identity.clientId(), second.identity.resumeToken('i')]).toEqual(['c1', 't2']);
  expect(await second.instanceId.take()).toBe(instance);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(dir)).toEqual(['client.json']);
});

test('[CL26] told that another has its instance, it takes a new one and keeps that', async () => {
  const path = join(tempDir(), 'client.json');
  const first = open(path);
  const old = await first.instanceId.take();
  const renewed = await first.instanceId.renew();
  expect(renewed).not.toBe(old);
  expect(await open(path).instanceId.take()).toBe(renewed);
});

test.each(['', '{"instance_id": "../elsewhere"}', 'notes'])(
  '[CL26] from the file %j it is a new client, and says so',
  (text) => {
    const path = join(tempDir(), 'client.json');
    writeFileSync(path, text);
    const { identity, problems } = open(path);
    expect(identity.clientId()).toBeUndefined();
    expect(problems).toEqual([expect.stringContaining('this is a new client')]);
  },
);
