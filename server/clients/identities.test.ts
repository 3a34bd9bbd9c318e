import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { ClientMessageOf } from '#lib/protocol/client-messages';
import { tempDir } from '#lib/testing/temp-dir';
import { FIRST_OPERATOR, type Principal } from '../auth/principal.ts';
import { createStoreOnThisThread } from '../store/testing/store-on-this-thread.ts';
import { throwingLogger as logger } from '../testing/error-log.ts';
import { Identities, type Identity } from './identities.ts';

const operator: Principal = FIRST_OPERATOR;

type Hello = Omit<ClientMessageOf<'hello'>, 'type'>;

function setup() {
  const dir = tempDir();
  const file = join(dir, 'callboard.db');
  const store = createStoreOnThisThread({ file });
  const held = new Set<string>();
  const connected = new Set<string>();
  const table = { get: () => undefined, hasClient: (id: string) => connected.has(id) };
  let made = 0;
  const refused: (string | null)[] = [];
  const identities = new Identities({
    store,
    table,
    isMadeHere: (id) => id.startsWith('made_'),
    instances: { holdsCalls: (instanceId: string) => held.has(instanceId) },
    audit: { record: async ({ target }) => void refused.push(target) },
    logger,
    clock: { now: () => 1_000 },
    newId: () => `made_${++made}`,
    newSecret: () => `secret_${++made}`,
    secretAfter: (token: string) => `after(${token})`,
  });
  onTestFinished(() => store.close());
  return {
    store,
    held,
    connected,
    identities,
    refused,
    file,
    /** One visit; the client leaves before the next one comes. */
    visit: (hello: Hello, principal: Principal = operator) =>
      identities.ofHello(principal, { type: 'hello', ...hello }, (who) => who),
    /** What it says after its welcome. */
    speaks: (who: Identity) => identities.confirm(who),
  };
}

const back = (who: { clientId: string; instanceId: string; resumeToken: string }): Hello => ({
  client_id: who.clientId,
  instance_id: who.instanceId,
  resume_token: who.resumeToken,
});

test('[ID1] by its token it is who it was, and by its names alone it is a stranger', async () => {
  const { visit, held } = setup();
  const first = await visit({ client_id: 'lab', instance_id: 'tab_1' });
  expect(first).toMatchObject({ clientId: 'lab', instanceId: 'tab_1', resumed: false });
  expect(await visit(back(first))).toMatchObject({ instanceId: 'tab_1', resumed: true });
  held.add('tab_1');
  const { resume_token: _, ...names } = back(first);
  const foreign = await visit(names);
  expect([foreign.clientId, foreign.instanceId]).toEqual([
    expect.stringMatching(/^made_/),
    expect.stringMatching(/^made_/),
  ]);
  expect(foreign.resumed).toBe(false);
});

test('[ID1] T18 T19: a client id that was ever used is given to no other, whatever token it brings', async () => {
  const { visit, connected } = setup();
  await visit({ client_id: 'lab', instance_id: 'tab_1' });
  const other = await visit({ client_id: 'desk', instance_id: 'tab_1' });
  connected.add('silent');
  for (const resume_token of [undefined, 'guessed', other.resumeToken]) {
    const token = resume_token === undefined ? {} : { resume_token };
    for (const client_id of ['lab', 'silent', 'made_1']) {
      const who = await visit({ client_id, instance_id: 'tab_2', ...token });
      expect(who.clientId).not.toBe(client_id);
    }
  }
});

test('[LV21] the id that stands for each client is given to none', async () => {
  const { visit } = setup();
  for (const client_id of ['all', 'ALL']) {
    expect((await visit({ client_id })).clientId).toMatch(/^made_/);
  }
  expect(await visit({ client_id: 'all-1' })).toMatchObject({ clientId: 'all-1' });
});

test('[ID1] of those who name one free client id at a time, one is given it', async () => {
  const { visit } = setup();
  const all = await Promise.all(
    Array.from({ length: 5 }, (_, at) => visit({ client_id: 'raced', instance_id: `tab_${at}` })),
  );
  expect(all.filter(({ clientId }) => clientId === 'raced')).toHaveLength(1);
  expect(new Set(all.map(({ clientId }) => clientId)).size).toBe(5);
});

test('[ID2] the token that is told is on disk already, and only as a hash', async () => {
  const { visit, file } = setup();
  const first = await visit({ client_id: 'lab', instance_id: 'tab_1' });
  const onDisk = readFileSync(`${file}-wal`, 'latin1') + readFileSync(file, 'latin1');
  expect(onDisk).toContain('tab_1');
  expect(onDisk).not.toContain(first.resumeToken);
});

test('[ID3] a client that spoke after its welcome cannot come back by the token before', async () => {
  const { visit, speaks, held } = setup();
  const first = await visit({ client_id: 'lab', instance_id: 'tab_1' });
  held.add('tab_1');
  const second = await visit(back(first));
  expect(second.resumeToken).not.toBe(first.resumeToken);
  await speaks(second);
  expect(await visit(back(first))).toMatchObject({ resumed: false });
  expect(await visit(back(second))).toMatchObject({ resumed: true });
});

test('[ID3] however often its welcome is lost, it comes back by the token that it has', async () => {
  const { visit, speaks, held } = setup();
  const first = await visit({ client_id: 'lab', instance_id: 'tab_1' });
  held.add('tab_1');
  await speaks(first);
  for (let lost = 0; lost < 4; lost += 1) {
    expect(await visit(back(first))).toMatchObject({ resumed: true });
  }
  const confirmed = await visit(back(first));
  await speaks(confirmed);
  expect(await visit(back(first))).toMatchObject({ resumed: false });
  expect(await visit(back(confirmed))).toMatchObject({ resumed: true });
});

test('[ID3] two welcomes later the token is over, heard of or not', async () => {
  const { visit } = setup();
  const first = await visit({ client_id: 'lab', instance_id: 'tab_1' });
  const second = await visit(back(first));
  await visit(back(second));
  expect(await visit(back(first))).toMatchObject({ resumed: false });
});

test("[ID4] one instance's token opens no other instance, and proves its own client alone", async () => {
  const { visit } = setup();
  const one = await visit({ client_id: 'lab', instance_id: 'tab_1' });
  const other = await visit({ ...back(one), instance_id: 'tab_2' });
  expect(other).toMatchObject({ clientId: 'lab', instanceId: 'tab_2', resumed: false });
  await visit({ client_id: 'desk', instance_id: 'tab_9' });
  const foreign = await visit({ ...back(other), client_id: 'desk' });
  expect(foreign).toMatchObject({ resumed: false });
  expect(foreign.clientId).not.toBe('desk');
  // To prove the client costs the other instance nothing: its token still opens it.
  expect(await visit(back(one))).toMatchObject({ instanceId: 'tab_1', resumed: true });
});

test('[ID5] an instance that calls wait for, or that is on its way in, is not taken over by its id', async () => {
  const { visit, held } = setup();
  held.add('tab_1');
  for (const instance_id of ['tab_1', 'http:lab']) {
    expect((await visit({ client_id: 'lab', instance_id })).instanceId).toMatch(/^made_/);
  }
  const hello = { instance_id: 'tab_2' };
  const both = await Promise.all([visit(hello), visit(hello)]);
  expect(both.map(({ instanceId }) => instanceId)).toEqual([
    'tab_2',
    expect.stringMatching(/^made_/),
  ]);
});

test('[ID5] an instance whose way in failed is free again', async () => {
  const { visit, store } = setup();
  const write = vi.spyOn(store, 'write').mockRejectedValueOnce(new Error('disk full'));
  await expect(visit({ client_id: 'lab', instance_id: 'tab_1' })).rejects.toThrow('disk full');
  write.mockRestore();
  expect(await visit({ client_id: 'lab', instance_id: 'tab_1' })).toMatchObject({
    clientId: 'lab',
    instanceId: 'tab_1',
  });
});

test('[ID6] T17: a device is the client that it was paired as, whatever it says', async () => {
  const { visit } = setup();
  const device: Principal = { kind: 'device', clientId: 'phone', tokenId: null };
  const who = await visit({ client_id: 'lab', instance_id: 'tab_1' }, device);
  expect(who.clientId).toBe('phone');
  expect(await visit({ ...back(who), client_id: 'lab' }, device)).toMatchObject({
    clientId: 'phone',
    resumed: true,
  });
});

test('[DV44] T28: a resume token proves nothing for another principal, before and after it was used', async () => {
  const { visit, speaks, refused } = setup();
  const phone: Principal = { kind: 'device', clientId: 'c_phone', tokenId: 'tok_1' };
  const laptop: Principal = { kind: 'device', clientId: 'c_laptop', tokenId: 'tok_2' };
  const agent: Principal = { ...FIRST_OPERATOR, name: 'olga', tokenId: 'tok_3' };
  const owner = await visit({ client_id: 'desk', instance_id: 'in_1' });
  const paired = await visit({ instance_id: 'in_2' }, phone);
  for (const other of [laptop, agent]) {
    for (const stolen of [owner, paired]) {
      const got = await visit(back(stolen), other);
      expect(got).toMatchObject({ resumed: false });
      expect(got.clientId).not.toBe(stolen.clientId);
    }
  }
  await expect.poll(() => refused).toContain('desk');
  // Its owner is not affected, also with the token of before.
  const again = await visit(back(owner));
  expect(again).toMatchObject({ clientId: 'desk', instanceId: 'in_1', resumed: true });
  await speaks(again);
  expect(await visit(back(owner), agent)).toMatchObject({ resumed: false });
  expect(await visit(back(again))).toMatchObject({ resumed: true });
});

test('[DV44] who names client ids of another principal is in the audit once for both, whatever the ids', async () => {
  const { visit, refused } = setup();
  const device = (id: string): Principal => ({
    kind: 'device',
    clientId: id,
    tokenId: `tok_${id}`,
  });
  for (const client_id of ['desk', 'tab']) await visit({ client_id });
  await visit({}, device('lamp'));
  // The one that a device names is not its own: it is given that.
  const agent: Principal = { ...FIRST_OPERATOR, name: 'olga', tokenId: 'tok_3' };
  for (const client_id of ['desk', 'desk', 'tab', 'free', 'lamp'])
    await visit({ client_id }, agent);
  await visit({ client_id: 'desk' });
  await visit({ client_id: 'tab' }, { ...agent, name: 'ben', tokenId: 'tok_4' });
  await expect.poll(() => refused).toEqual(['desk', 'lamp', 'tab']);
});

test('[DV44] of more than a thousand such pairs the oldest is forgotten, and told once more', async () => {
  const { visit, identities, refused } = setup();
  await visit({ client_id: 'desk' });
  const claim = (n: number) =>
    identities.noteRefused({ ...FIRST_OPERATOR, name: `ann ${n}`, tokenId: `tok_${n}` }, 'desk');
  for (let n = 0; n <= 1_000; n += 1) await claim(n);
  await claim(1);
  expect(refused).toHaveLength(1_001);
  await claim(0);
  expect(refused).toHaveLength(1_002);
});
