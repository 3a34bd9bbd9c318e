import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createManualClock } from '#lib/client/testing/manual-clock';
import { tempDir } from '#lib/testing/temp-dir';
import { createNewId } from '../base/new-id.ts';
import { createStoreOnThisThread } from '../store/testing/store-on-this-thread.ts';
import { createErrorLog } from '../testing/error-log.ts';
import { hashSecret } from './secrets.ts';
import { Tokens } from './tokens.ts';

const bot = { kind: 'agent', name: 'bot', tools: ['echo', 'file.*'] } as const;
const olga = { kind: 'operator', name: 'olga', role: 'operator' } as const;

/** Tokens on a real store; only time is the test's. */
async function setup() {
  const dir = tempDir();
  const file = join(dir, 'callboard.db');
  const clock = createManualClock();
  const { logger, errors } = createErrorLog();
  let secrets = 0;
  let ids = 0;
  const newId = createNewId(() => clock.now() + ids++);
  const start = async () => {
    const store = createStoreOnThisThread({ file });
    onTestFinished(() => store.close());
    const writes: unknown[] = [];
    const write: typeof store.write = (changes, options) => {
      writes.push(...changes);
      return store.write(changes, options);
    };
    const newSecret = () => hashSecret(`secret ${secrets++}`).slice(0, 43);
    const tokens = new Tokens({
      ...{ clock, newId, newSecret, logger },
      store: { write, listTokens: store.listTokens },
    });
    await tokens.load();
    return { tokens, store, writes };
  };
  const first = await start();
  return {
    ...{ ...first, file, clock, errors },
    async restart() {
      await first.store.close();
      return start();
    },
  };
}

const made = (tokens: Tokens, asked: Parameters<Tokens['create']>[0]) =>
  tokens.create(asked, 'operator');

test('[AU32] T33: a token is found by its secret, of which the disk has the hash alone', async () => {
  const { tokens, file, restart } = await setup();
  const agent = await made(tokens, bot);
  const person = await made(tokens, olga);
  expect(agent.secret).toMatch(/^cb_agent_[\w-]{43}$/);
  expect(person.secret).toMatch(/^cb_op_[\w-]{43}$/);
  const { tokens: again } = await restart();
  for (const one of [tokens, again]) {
    expect(one.find(agent.secret)).toEqual({ ...bot, tokenId: agent.token.id });
    expect(one.find(person.secret)).toEqual({
      ...{ ...olga, tokenId: person.token.id, sessionId: null },
    });
    for (const wrong of ['', 'cb_agent_', `${agent.secret}x`, agent.secret.slice(0, -1)]) {
      expect(one.find(wrong)).toBeUndefined();
    }
  }
  const bytes = readFileSync(file, 'latin1');
  expect(bytes).toContain(agent.token.hash);
  expect(bytes).not.toContain(agent.secret.slice(9));
});

test('[AU33] a revoked token opens nothing, at once and after a restart, and its listeners are called once', async () => {
  const { tokens, restart } = await setup();
  const { token, secret } = await made(tokens, bot);
  const other = await made(tokens, olga);
  const ended: string[] = [];
  tokens.onRevoked((id) => ended.push(id));
  const revoking = tokens.revoke(token.id);
  expect([tokens.find(secret), tokens.callerOf(token.id), ended]).toEqual([
    undefined,
    undefined,
    [token.id],
  ]);
  expect((await revoking)?.revokedAt).not.toBeNull();
  expect(await tokens.revoke(token.id)).toBeUndefined();
  expect(await tokens.revoke('tok_none')).toBeUndefined();
  expect(ended).toEqual([token.id]);
  const { tokens: again } = await restart();
  expect([again.find(secret), again.isLive(token.id)]).toEqual([undefined, false]);
  expect(again.find(other.secret)).toBeDefined();
  expect(again.list({ limit: 9 }).map(({ name }) => name)).toEqual(['olga', 'bot']);
});

test('[AU32] a name is unique among the live ones of its kind, also while one is being made', async () => {
  const { tokens } = await setup();
  const [first, second] = await Promise.allSettled([made(tokens, bot), made(tokens, bot)]);
  expect(second).toMatchObject({ status: 'rejected', reason: { code: 'conflict' } });
  await made(tokens, { ...olga, name: 'bot' });
  if (first.status === 'fulfilled') await tokens.revoke(first.value.token.id);
  await made(tokens, bot);
});

test('[AU34] use is written at most once a minute, and a request reads nothing', async () => {
  const { tokens, clock, writes, store, restart } = await setup();
  const { token, secret } = await made(tokens, bot);
  const before = writes.length;
  for (let second = 0; second < 60; second += 1) {
    tokens.find(secret);
    clock.advance(1_000);
  }
  expect(writes.length).toBe(before + 1);
  const lastUsed = clock.now();
  tokens.find(secret);
  expect(writes.length).toBe(before + 2);
  await store.write([]);
  expect(tokens.list({ limit: 1 })).toMatchObject([{ id: token.id, lastUsedAt: lastUsed }]);
  const { tokens: again } = await restart();
  expect(again.list({ limit: 1 })).toMatchObject([{ lastUsedAt: lastUsed }]);
});

test('[AU33] use that is written while a token is revoked does not bring it back', async () => {
  const { tokens, restart } = await setup();
  const { token, secret } = await made(tokens, bot);
  tokens.find(secret);
  await tokens.revoke(token.id);
  expect((await restart()).tokens.isLive(token.id)).toBe(false);
});

test('[AU32] there are at most 1,000 live tokens, and a page shows so many', async () => {
  const { tokens } = await setup();
  const create = (at: number) => tokens.create({ ...bot, name: `bot-${at}` }, 'operator');
  const all = await Promise.allSettled(Array.from({ length: 1_001 }, (_, at) => create(at)));
  expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1_000);
  const first = tokens.list({ limit: 200 });
  expect(first.map(({ name }) => name).slice(0, 2)).toEqual(['bot-999', 'bot-998']);
  const before = first.at(-1)?.id ?? '';
  expect(tokens.list({ limit: 200, before }).at(0)?.name).toBe('bot-799');
});

test('[AU32] an operator is found by the name of a live token, and an agent is not', async () => {
  const { tokens } = await setup();
  const { token } = await made(tokens, olga);
  await made(tokens, bot);
  expect(tokens.operatorNamed('olga')).toMatchObject({ ...olga, tokenId: token.id });
  expect(tokens.operatorNamed('bot')).toBeUndefined();
  await tokens.revoke(token.id);
  expect(tokens.operatorNamed('olga')).toBeUndefined();
});
