import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { isRecord } from '#lib/json/is-record';
import { createSecrets } from '#lib/text/secrets';
import { type Agent, FIRST_OPERATOR } from '../auth/principal.ts';
import {
  type CallsSetup,
  reading,
  type SetupOptions,
  setupCalls,
  tool,
} from '../calls/testing/setup-calls.ts';
import { defineTool } from '../tools/define-tool.ts';
import type { KnownSecrets } from './withholding.ts';

const PASSWORD = 'open-sesame-7f3a';
const KEY = 'configured-canary-7f3a';
const MARK = '[redacted:argument]';

const secrets: KnownSecrets = {
  ...createSecrets([{ kind: 'configured', value: KEY }]),
  key: 'key-of-the-tests',
};

const login = tool('login', {
  parameters: {
    type: 'object',
    properties: {
      user: { type: 'string' },
      password: { type: 'string', 'x-sensitive': true },
    },
  },
});

const setup = (options: SetupOptions = {}) => setupCalls({ secrets, ...options });

async function withPhone(offered: object, options?: SetupOptions) {
  const server = await setup(options);
  const client = server.connect('phone');
  client.offer(offered);
  return { server, client };
}

const bot: Agent = { kind: 'agent', name: 'bot', tokenId: 'tok_bot', tools: ['login'] };

/** Calls that wait for a person, of everything. */
const asking: SetupOptions = { check: () => ({ verdict: 'ask', reason: 'look at it' }) };

/** All that is on disk of a store that is open. */
function onDisk({ dir }: CallsSetup): string {
  return readdirSync(dir)
    .filter((name) => name.startsWith('callboard.db'))
    .map((name) => readFileSync(join(dir, name)).toString('latin1'))
    .join('\n');
}

const args = { user: 'ann', password: PASSWORD };

describe('an argument that is marked with x-sensitive', () => {
  test('[CW1] reaches the tool, and neither disk, record nor watchers', async () => {
    const { server, client } = await withPhone(login);
    const call = await server.invoke('login', args);
    await server.settle();
    expect(client.requests().map((one) => one.args)).toEqual([args]);
    expect(call.args).toEqual({ user: 'ann', password: MARK });
    expect(server.cardOf(call.id)?.params).toEqual({ user: 'ann', password: MARK });
    expect(JSON.stringify([await server.call(call.id), server.events])).not.toContain(PASSWORD);
    expect(onDisk(server)).not.toContain(PASSWORD);
    expect(onDisk(server)).toContain('redacted:argument');
  });

  test('[CW2] is taken out of what its tool shows and answers, too', async () => {
    const { server, client } = await withPhone(login);
    const { id } = await server.invoke('login', args);
    await server.settle();
    client.status({ type: 'tool_status', id, tip: `with ${PASSWORD}`, params: { as: PASSWORD } });
    await server.settle();
    await client.succeed(id, { echoed: [`it was ${PASSWORD}`] });
    await server.settle();
    expect((await server.call(id)).result).toEqual({ echoed: [`it was ${MARK}`] });
    expect(server.cardOf(id)?.tip).toBe(`with ${MARK}`);
    expect(JSON.stringify(server.events)).not.toContain(PASSWORD);
    expect(onDisk(server)).not.toContain(PASSWORD);
  });

  test('[CW1] is not shown while a model is still writing it', async () => {
    const { server, client } = await withPhone(login);
    const draft = await server.calls.draft({
      ...{ principal: FIRST_OPERATOR, runId: 'run_1', tool: 'login' },
    });
    await server.settle();
    draft.update({ user: 'ann', password: PASSWORD.slice(0, 6) });
    await server.settle();
    expect(server.cardOf(draft.callId)?.params).toEqual({ user: 'ann', password: MARK });
    await draft.complete(args);
    await server.settle();
    expect(client.requests().map((one) => one.args)).toEqual([args]);
    expect(JSON.stringify(server.events)).not.toContain(PASSWORD.slice(0, 6));
  });

  test('[CW9] is not with a tool that looks at it then, and with the one that runs', async () => {
    const looked: unknown[] = [];
    const ran: unknown[] = [];
    const vault = defineTool({
      ...{ name: 'vault', displayName: 'Vault', description: 'Opens', effect: 'read' },
      timeoutMs: 1_000,
      args: z.object({ user: z.string(), password: z.string().meta({ 'x-sensitive': true }) }),
      onPartial: (written) => void looked.push(written),
      run: async (given) => ({ output: ran.push(given) }),
    });
    const server = await setup({ tools: [vault] });
    const draft = await server.calls.draft({
      ...{ principal: FIRST_OPERATOR, runId: 'run_1', tool: 'vault' },
    });
    const written = { user: KEY, password: PASSWORD.slice(0, 6) };
    draft.update(written, async () => written);
    await server.settle();
    await draft.complete(args);
    await server.settle();
    expect(looked).toEqual([{ user: '[redacted:configured]', password: MARK }]);
    expect(ran).toEqual([args]);
  });

  test.each([
    { what: 'still marks it', more: { 'x-sensitive': true } },
    { what: 'marks it no more', more: {} },
  ])('[CW1] [CW3] is not in what is mended for a changed tool and $what', async ({ more }) => {
    const { server, client } = await withPhone(login, asking);
    const given = { user: '7', password: PASSWORD };
    const { id } = await server.invoke('login', given);
    const changed = { user: { type: 'integer' }, password: { type: 'string', ...more } };
    await client.offer(tool('login', { parameters: { type: 'object', properties: changed } }));
    await server.calls.decide(id, FIRST_OPERATOR, { decision: 'yes' });
    await server.settle();
    const shown = { user: 7, password: MARK };
    expect(await server.call(id)).toMatchObject({ phase: 'approval', args: shown });
    expect((await server.calls.decide(id, FIRST_OPERATOR, { decision: 'yes' })).ok).toBe(true);
    await server.settle();
    expect(client.requests().map((one) => one.args)).toEqual([{ user: 7, password: PASSWORD }]);
    expect(JSON.stringify(server.events)).not.toContain(PASSWORD);
    expect(onDisk(server)).not.toContain(PASSWORD);
  });

  test('[CW3] is there when a person says yes, and when the client comes back for the call', async () => {
    const server = await setup(asking);
    const client = server.connect('phone', { claims: true });
    await client.offer(login);
    const { id } = await server.invoke('login', args);
    await server.calls.decide(id, FIRST_OPERATOR, { decision: 'yes' });
    await server.settle();
    client.leave();
    const again = server.connect('phone', { claims: true });
    await again.offer(login);
    await server.settle();
    expect([...client.requests(), ...again.requests()].map((one) => one.args)).toEqual([
      args,
      args,
    ]);
  });

  test('[CW4] stays as it is when a person edits the others, and is replaced when they edit it', async () => {
    const { server, client } = await withPhone(login, asking);
    const edit = async (edited: object) => {
      const { id } = await server.invoke('login', args);
      await server.calls.decide(id, FIRST_OPERATOR, { decision: 'yes', args: edited });
      await server.settle();
      return client.requests().at(-1)?.args;
    };
    expect(await edit({ user: 'bob', password: MARK })).toEqual({
      user: 'bob',
      password: PASSWORD,
    });
    expect(await edit({ user: 'bob', password: 'another-one' })).toEqual({
      ...{ user: 'bob', password: 'another-one' },
    });
    expect(onDisk(server)).not.toContain('another-one');
    const { id } = await server.invoke('login', args);
    const moved = { user: MARK, password: MARK };
    expect(
      await server.calls.decide(id, FIRST_OPERATOR, { decision: 'yes', args: moved }),
    ).toMatchObject({ ok: false, code: 'invalid_args' });
  });

  test('[CW1] is not quoted where it does not fit, however short or long it is', async () => {
    const server = await setup();
    const parameters = {
      type: 'object',
      properties: {
        pin: { type: 'integer', maximum: 99, 'x-sensitive': true },
        code: { type: 'string', pattern: '^[a-z]+$', 'x-sensitive': true },
        size: { enum: ['small', 'large'] },
      },
    };
    await server.connect('phone').offer(tool('login', { parameters }));
    const of = { principal: FIRST_OPERATOR, runId: 'run_1', tool: 'login' };
    const given = { pin: 4711, code: '0-8-15', size: `${KEY}-${'x'.repeat(40)}` };
    const draft = await server.calls.draft(of);
    const { error } = await draft.complete(given);
    expect(error?.message).toMatch(
      /pin must be at most 99; code must match .*; size must be one of/,
    );
    const unread = await (await server.calls.draft(of)).complete(`4711 0-8-15 ${KEY}`);
    expect(unread.error?.message).toContain('must be an object');
    await server.settle();
    const all = JSON.stringify(server.events) + onDisk(server);
    for (const part of ['4711', '0-8-15', KEY]) expect(all).not.toContain(part);
  });

  test('[CW3] is what policy and hooks decide on', async () => {
    const asked: unknown[] = [];
    const server = await setup({
      check: (question) => {
        asked.push(question.args);
        return { verdict: 'allow' };
      },
    });
    await server.connect('phone').offer(login);
    await server.invoke('login', args);
    expect(asked).toEqual([args]);
  });
});

describe('after a restart', () => {
  test.each(['approval', 'queued'] as const)(
    '[CW5] a call in the phase %s whose secret is on no disk ends, and says so',
    async (phase) => {
      const first = await setup(asking);
      const client = first.connect('phone', { claims: true });
      await client.offer(login);
      const { id } = await first.invoke('login', args, { clientId: 'phone' });
      if (phase === 'queued') {
        client.leave();
        await first.calls.decide(id, FIRST_OPERATOR, { decision: 'yes' });
      }
      await first.settle();
      expect((await first.call(id)).phase).toBe(phase);
      await first.close();
      const second = await setup({ dir: first.dir });
      await second.calls.recover();
      await second.settle();
      expect(await second.call(id)).toMatchObject({
        ...{ status: 'FAILED', error: { code: 'interrupted', executed: 'no' } },
      });
    },
  );

  test('[CW5] one that its client had taken is not sent again, and its answer counts', async () => {
    const first = await setup();
    const client = first.connect('phone', { claims: true, epoch: 'e1' });
    await client.offer({ ...login, ...reading });
    const { id } = await first.invoke('login', args);
    await first.settle();
    await client.claim(id, 1);
    await first.close();
    const second = await setup({ dir: first.dir });
    await second.calls.recover();
    const other = second.connect('tablet', { claims: true });
    await other.offer({ ...login, ...reading });
    const again = second.connect('phone', { claims: true, epoch: 'e1' });
    await again.offer({ ...login, ...reading });
    await second.settle();
    expect([...again.requests(), ...other.requests()]).toEqual([]);
    await again.succeed(id, 'in', 1);
    await second.settle();
    expect(await second.call(id)).toMatchObject({ status: 'SUCCEEDED', result: 'in' });
  });

  test('[CW5] a tool of the server that may run once more does not without its secret', async () => {
    const ran: unknown[] = [];
    const vault = defineTool({
      ...{ name: 'vault', displayName: 'Vault', description: 'Opens', effect: 'read' },
      timeoutMs: 60_000,
      args: z.object({ password: z.string().meta({ 'x-sensitive': true }) }),
      run: (given) => new Promise(() => ran.push(given)),
    });
    const first = await setup({ tools: [vault] });
    const { id } = await first.invoke('vault', { password: PASSWORD });
    await first.settle();
    await first.close();
    const second = await setup({ dir: first.dir, tools: [vault] });
    await second.calls.recover();
    await second.settle();
    expect(ran).toEqual([{ password: PASSWORD }]);
    expect(await second.call(id)).toMatchObject({
      ...{ status: 'FAILED', error: { code: 'interrupted', executed: 'unknown' } },
    });
  });

  test('[CW5] a call without secrets waits on', async () => {
    const first = await setup(asking);
    await first.connect('phone').offer(login);
    const { id } = await first.invoke('login', { user: 'ann' });
    await first.settle();
    await first.close();
    const second = await setup({ dir: first.dir });
    await second.calls.recover();
    expect((await second.call(id)).phase).toBe('approval');
  });

  test.each([
    ['that a person wrote into the call of a program', { args }],
    ['of a call that a person made again in the run of a program', undefined],
  ])('[CW13] T97: a secret %s goes nowhere when the program calls again', async (_, edited) => {
    const { server, client } = await withPhone(login, asking);
    const own = { principal: bot, runId: 'run_bot' };
    let { id } = await server.invoke('login', { ...args, password: '' }, own);
    if (!edited) {
      await server.calls.cancel(id, 'No', 'agent:bot');
      const retried = await server.calls.retry(id, FIRST_OPERATOR, { args });
      id = retried.ok ? retried.call.id : '';
    }
    await server.calls.decide(id, FIRST_OPERATOR, { decision: 'yes', ...edited });
    await server.settle();
    await client.succeed(id, 'done');
    const elsewhere = { user: 'eve', password: MARK };
    for (const more of [{ args: elsewhere }, {}]) {
      expect(await server.calls.retry(id, bot, more)).toMatchObject({
        ...{ ok: false, code: 'invalid_args' },
      });
    }
    expect((await server.calls.retry(id, bot, { args: { ...args, password: 'x' } })).ok).toBe(true);
    expect((await server.calls.retry(id, FIRST_OPERATOR, { args: elsewhere })).ok).toBe(true);
  });

  test('[CW13] a program calls again with a secret that it wrote itself', async () => {
    const { server, client } = await withPhone(login);
    const { id } = await server.invoke('login', args, { principal: bot, runId: 'run_bot' });
    await server.settle();
    await client.succeed(id, 'done');
    expect((await server.calls.retry(id, bot)).ok).toBe(true);
    await server.settle();
    expect(client.requests().at(-1)?.args).toEqual(args);
  });

  test('[CW5] it is not made again without its secrets', async () => {
    const first = await setup();
    const client = first.connect('phone');
    await client.offer(login);
    const { id } = await first.invoke('login', args);
    await first.settle();
    await client.succeed(id, 'done');
    const inMemory = await first.calls.retry(id, FIRST_OPERATOR);
    expect(inMemory.ok).toBe(true);
    await first.settle();
    expect(client.requests().at(-1)?.args).toEqual(args);
    await first.close();
    const second = await setup({ dir: first.dir });
    await second.calls.recover();
    const next = second.connect('phone');
    await next.offer(login);
    const refused = await second.calls.retry(id, FIRST_OPERATOR);
    expect(refused).toMatchObject({ ok: false, code: 'invalid_args' });
    expect((await second.calls.retry(id, FIRST_OPERATOR, { args })).ok).toBe(true);
  });
});

describe('a configured secret', () => {
  test('[CW6] reaches the tool as an argument, and nothing else', async () => {
    const { server, client } = await withPhone(tool('fetch'));
    const { id } = await server.invoke('fetch', { headers: [`Key ${KEY}`] });
    await server.settle();
    expect(client.requests()[0]?.args).toEqual({ headers: [`Key ${KEY}`] });
    await client.show(id, { found: KEY }, `shown ${KEY}`);
    await server.settle();
    expect(await server.call(id)).toMatchObject({
      args: { headers: ['Key [redacted:configured]'] },
      result: { found: '[redacted:configured]' },
      display: 'shown [redacted:configured]',
    });
    expect(JSON.stringify(server.events)).not.toContain(KEY);
    expect(onDisk(server)).not.toContain(KEY);
  });

  test('[CW6] is in nothing that people, or hooks, say of a call', async () => {
    const notes = [{ name: `looks for ${KEY}`, did: 'asked' }] as const;
    const checkEdit = async () => ({ notes, by: 'looker' });
    const server = await setup({ ...asking, checkEdit });
    await server.connect('phone').offer(tool('fetch'));
    const denied = await server.invoke('fetch');
    const note = `Not with ${KEY}`;
    await server.calls.decide(denied.id, FIRST_OPERATOR, { decision: 'no', note });
    const edited = await server.invoke('fetch');
    const args = { key: KEY };
    const yes = { decision: 'yes', args } as const;
    expect(await server.calls.decide(edited.id, FIRST_OPERATOR, yes)).toMatchObject({ ok: true });
    await server.settle();
    await server.calls.answer(edited.id, FIRST_OPERATOR, `It is ${KEY}`);
    await server.settle();
    expect((await server.call(denied.id)).error?.message).toContain('[redacted:configured]');
    expect((await server.call(edited.id)).result).toBe('It is [redacted:configured]');
    expect(JSON.stringify(server.events)).not.toContain(KEY);
    expect(onDisk(server)).not.toContain(KEY);
  });

  test('[CW6] is not in what is cut, e.g. where arguments that do not fit are quoted', async () => {
    const long = `${KEY}-${'0123456789'.repeat(4)}`;
    const own = { ...createSecrets([{ kind: 'configured', value: long }]), key: 'k' };
    const server = await setup({ secrets: own });
    const properties = { size: { enum: ['small', 'large'] } };
    const parameters = { type: 'object', properties };
    await server.connect('phone').offer(tool('fetch', { parameters }));
    const draft = await server.calls.draft({
      ...{ principal: FIRST_OPERATOR, runId: 'run_1', tool: 'fetch' },
    });
    const { error } = await draft.complete({ size: long });
    expect(error?.message).toContain('was the text "[redacted:configured]…"');
    await server.settle();
    expect(JSON.stringify(server.events) + onDisk(server)).not.toContain(KEY);
  });

  test('[CW6] is in no failure either', async () => {
    const { server, client } = await withPhone(tool('fetch'));
    const { id } = await server.invoke('fetch');
    await server.settle();
    await client.fail(id, `401 for ${KEY}`);
    await server.settle();
    expect((await server.call(id)).error?.message).toBe('401 for [redacted:configured]');
    expect(onDisk(server)).not.toContain(KEY);
  });
});

describe('what has the form of a token', () => {
  const token = `ghp_${'a1B2'.repeat(9)}`;

  test('[CW10] reaches the tool as an argument, and nothing else', async () => {
    const { server, client } = await withPhone(tool('fetch'));
    const { id } = await server.invoke('fetch', { with: token });
    await server.settle();
    client.status({ type: 'tool_status', id, tip: token, preview: [token] });
    await server.settle();
    await client.succeed(id, { issued: token });
    await server.settle();
    expect(client.requests()[0]?.args).toEqual({ with: token });
    const mark = '[redacted:token]';
    expect(await server.call(id)).toMatchObject({ args: { with: mark }, result: { issued: mark } });
    expect(server.cardOf(id)).toMatchObject({
      ...{ params: { with: mark }, result: { issued: mark }, tip: mark },
    });
    expect(JSON.stringify(server.events)).not.toContain(token);
    expect(onDisk(server)).not.toContain(token);
  });

  test('[CW4] stays what it is when a person edits the other arguments of its card', async () => {
    const { server, client } = await withPhone(tool('fetch'), asking);
    const { id } = await server.invoke('fetch', { with: token, n: 1 });
    await server.settle();
    const params = { ...server.cardOf(id)?.params, n: 2 };
    expect(params).toEqual({ with: '[redacted:token]', n: 2 });
    await server.calls.decide(id, FIRST_OPERATOR, { decision: 'yes', args: params });
    await server.settle();
    expect(client.requests()[0]?.args).toEqual({ with: token, n: 2 });
  });
});

test('T97 [CW10] what a client shows under a name of a secret is not shown', async () => {
  const { server, client } = await withPhone(tool('fetch'));
  const { id } = await server.invoke('fetch');
  await server.settle();
  const params = { token: 'abc', page: { password: 'def', number: 2 } };
  client.status({ type: 'tool_status', id, params });
  await server.settle();
  const shown = {
    token: '[redacted:by_name]',
    page: { password: '[redacted:by_name]', number: 2 },
  };
  expect(server.cardOf(id)).toMatchObject({ params: shown, status_params: shown });
  expect(onDisk(server)).not.toContain('"abc"');
});

describe('a tool of the server that fails without a word', () => {
  test('[CW11] puts no secret of its call into the log', async () => {
    const vault = defineTool({
      ...{ name: 'vault', displayName: 'Vault', description: 'Opens', effect: 'read' },
      timeoutMs: 1_000,
      args: z.object({ password: z.string().meta({ 'x-sensitive': true }) }),
      run: ({ password }) =>
        Promise.reject(new Error(`The lock did not take ${password} or ${KEY}`)),
    });
    const server = await setup({ tools: [vault] });
    await server.invoke('vault', { password: PASSWORD });
    await server.settle();
    expect(server.lines).toEqual([
      `vault failed: Error: The lock did not take ${MARK} or [redacted:configured]`,
    ]);
  });
});

describe('an answer that comes again', () => {
  test('[CW12] is compared as it is stored: it is the same, late or not', async () => {
    const { server, client } = await withPhone(login);
    const { id } = await server.invoke('login', args);
    await server.settle();
    const output = { echoed: PASSWORD, key: KEY };
    await client.succeed(id, output);
    expect(await client.succeed(id, { key: KEY, echoed: PASSWORD })).toMatchObject({
      disposition: 'duplicate',
    });
    const late = await server.invoke('login', args);
    await server.settle();
    server.clock.advance(600_000);
    await server.settle();
    expect(await client.succeed(late.id, output)).toMatchObject({ disposition: 'late' });
    expect(await client.succeed(late.id, output)).toMatchObject({ disposition: 'late' });
    expect(await client.succeed(late.id, 'another')).toMatchObject({ code: 'conflict' });
    expect(onDisk(server)).not.toContain(PASSWORD);
  });

  test('[CW3] hooks after the call look at it without what is secret', async () => {
    const seen: unknown[] = [];
    const server = await setup({
      results: {
        isFor: () => true,
        filter: async (_call, result) => {
          seen.push(result);
          return { result, isReplaced: false, notes: [] };
        },
      },
    });
    const client = server.connect('phone');
    await client.offer(login);
    const { id } = await server.invoke('login', args);
    await server.settle();
    await client.succeed(id, { echoed: PASSWORD });
    expect(seen).toMatchObject([{ ok: true, output: { echoed: MARK } }]);
  });
});

describe('an Idempotency-Key', () => {
  test('[CW7] two secrets are two questions, and no hash is stored by which one could be found', async () => {
    const server = await setup();
    await server.connect('phone').offer(login);
    const ask = (password: string) =>
      server.calls.invoke({
        ...{ principal: FIRST_OPERATOR, tool: 'login', runId: 'run_1', idempotencyKey: 'k1' },
        args: { user: 'ann', password },
      });
    const first = await ask('0000');
    const same = await ask('0000');
    expect(first.ok && same.ok && first.call.id === same.call.id).toBe(true);
    expect(await ask('0001')).toMatchObject({ ok: false, code: 'conflict_idempotency' });
    const plain = JSON.stringify(['login', 'run_1', { user: 'ann', password: '0000' }, null, null]);
    expect(onDisk(server)).not.toContain(createHash('sha256').update(plain).digest('hex'));
  });
});

describe('the question to a person', () => {
  const short = { user: 'ann', password: '1234' };

  test('[CW8] is another one where only the secret differs, and one where it is the same', async () => {
    const { server, client } = await withPhone(login, asking);
    const first = await server.invoke('login', short);
    const same = await server.invoke('login', { password: '1234', user: 'ann' });
    const other = await server.invoke('login', { ...short, password: '1235' });
    expect(other.args).toEqual(first.args);
    expect(same.card.approval_key).toBe(first.card.approval_key);
    expect(other.card.approval_key).not.toBe(first.card.approval_key);
    await server.calls.decide(first.id, FIRST_OPERATOR, { decision: 'yes' });
    await server.settle();
    expect(client.requests().map(({ id }) => id)).toEqual([first.id, same.id]);
    expect(client.requests().map((one) => one.args)).toEqual([short, short]);
    expect((await server.call(other.id)).phase).toBe('approval');
  });

  test('[CW8] [CW4] edited once, each equal call runs with the secret that its card has the mark of', async () => {
    const { server, client } = await withPhone(login, asking);
    const { id } = await server.invoke('login', args);
    await server.invoke('login', args);
    const edited = { user: 'bob', password: MARK };
    await server.calls.decide(id, FIRST_OPERATOR, { decision: 'yes', args: edited });
    await server.settle();
    const ran = { user: 'bob', password: PASSWORD };
    expect(client.requests().map((one) => one.args)).toEqual([ran, ran]);
    expect(JSON.stringify(server.events)).not.toContain(PASSWORD);
    expect(onDisk(server)).not.toContain(PASSWORD);
  });

  test('[CW8] has a key by which no secret can be found, also of one that the configuration names', async () => {
    const keyOf = async (key: string, given: Record<string, unknown>) => {
      const server = await setup({ ...asking, secrets: { ...secrets, key } });
      await server.connect('phone').offer(login);
      return (await server.invoke('login', given)).card.approval_key;
    };
    expect(await keyOf('one', short)).toBe(await keyOf('one', short));
    expect(await keyOf('one', short)).not.toBe(await keyOf('two', short));
    const configured = { user: KEY };
    expect(await keyOf('one', configured)).not.toBe(await keyOf('two', configured));
    const plain = { user: 'ann' };
    expect(await keyOf('one', plain)).not.toBe(undefined);
  });
});

test('a call without secrets keeps the objects that it was given', async () => {
  const { server } = await withPhone(tool('plain'));
  const { id, args: kept, routing } = await server.invoke('plain', { a: 'b' });
  expect(isRecord(kept)).toBe(true);
  expect(routing.withheld).toBeUndefined();
  expect((await server.call(id)).args).toEqual({ a: 'b' });
});
