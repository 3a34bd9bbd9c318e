import { expect, test, vi } from 'vitest';
import type { Call } from '#lib/call/call';
import { tempDir } from '#lib/testing/temp-dir';
import { FIRST_OPERATOR, type Principal } from '../auth/principal.ts';
import { operator, type SetupOptions, setupCalls, tool } from '../calls/testing/setup-calls.ts';
import { testPolicy } from '../policy/testing/test-policy.ts';
import { createShell } from '../tools/workspace/shell-tool.ts';

const asks = () => ({ verdict: 'ask', reason: 'it has effects' }) as const;
const olga: Principal = { ...FIRST_OPERATOR, name: 'olga', role: 'operator', tokenId: 'tok_olga' };

async function setup(options: SetupOptions = {}) {
  const one = await setupCalls({ check: asks, ...options });
  return one;
}

test('[CA8] [CA45] T72: one yes is one execution: used twice, and after a restart, it runs nothing more', async () => {
  const dir = tempDir();
  const before = await setupCalls({ check: asks, dir });
  const phone = before.connect('phone');
  phone.offer(tool('fx'));
  const { id } = await before.invoke('fx');
  expect(await before.calls.decide(id, operator, { decision: 'yes' })).toMatchObject({ ok: true });
  await before.settle();
  expect(phone.requests()).toHaveLength(1);
  for (const decision of ['yes', 'always'] as const) {
    expect(await before.calls.decide(id, olga, { decision })).toMatchObject({ ok: false });
  }
  await phone.succeed(id, 'done');
  await before.settle();
  // The same request again is a question of its own.
  expect((await before.invoke('fx')).phase).toBe('approval');
  expect(phone.requests()).toHaveLength(1);
  await before.close();

  const after = await setup({ dir });
  await after.calls.recover();
  const again = after.connect('phone');
  again.offer(tool('fx'));
  expect(await after.calls.decide(id, operator, { decision: 'yes' })).toMatchObject({
    ...{ ok: false, code: 'already_final' },
  });
  await after.settle();
  expect(again.requests()).toEqual([]);
});

test('[CA8] T72: a yes that comes after the ten minutes of its question runs nothing', async () => {
  const { connect, invoke, call, calls, clock, settle } = await setup();
  const phone = connect('phone');
  phone.offer(tool('fx'));
  const { id } = await invoke('fx');
  clock.advance(10 * 60_000);
  await vi.waitFor(async () => expect((await call(id)).status).toBe('FAILED'));
  expect((await call(id)).error).toMatchObject({ code: 'approval_expired', executed: 'no' });
  expect(await calls.decide(id, operator, { decision: 'yes' })).toMatchObject({ ok: false });
  await settle();
  expect(phone.requests()).toEqual([]);
});

test('[CA12] [CA45] T82: of 200 races of a yes and a no each has one winner, whom everybody sees', async () => {
  const { connect, invoke, call, calls, cardOf, settle } = await setup();
  const phone = connect('phone');
  phone.offer(tool('fx'));
  const ran: string[] = [];
  for (let n = 0; n < 200; n += 1) {
    // A run asks at most 30 questions an hour (CA46).
    const { id } = await invoke('fx', { n }, { runId: `run_${n}` });
    const yes = () => calls.decide(id, operator, { decision: 'yes' });
    const no = () => calls.decide(id, olga, { decision: 'no' });
    const outcomes = await Promise.all(n % 2 === 0 ? [yes(), no()] : [no(), yes()]);
    expect(outcomes.map(({ ok }) => ok)).toEqual([true, false]);
    const { card } = await call(id);
    const by = n % 2 === 0 ? 'operator' : 'operator:olga';
    expect(card.approval_decision).toMatchObject({ by, decision: n % 2 === 0 ? 'yes' : 'no' });
    await settle();
    expect(cardOf(id)?.approval_decision).toEqual(card.approval_decision);
    if (n % 2 === 0) {
      ran.push(id);
      await phone.succeed(id, 'done');
    }
  }
  expect(phone.requests().map(({ id }) => id)).toEqual(ran);
});

test('[PO3] [TP2] T69 T75: a rule that allows one program allows no wrapper of it, and nothing that a model adds', async () => {
  const root = tempDir();
  const shell = createShell({ root, env: { PATH: '/usr/bin:/bin' }, timeoutMs: 30_000 });
  const rule = { effect: 'allow', tools: ['shell'], args: [{ path: '/argv/0', equals: 'ls' }] };
  const { check, denial } = testPolicy({ rules: [rule] });
  const { calls, call } = await setup({ check, denial, tools: [shell] });
  const principal: Principal = { kind: 'run', runId: 'run_1', owner: operator };
  const made = async (args: Record<string, unknown>): Promise<Call> => {
    const draft = await calls.draft({ principal, runId: 'run_1', tool: 'shell' });
    const { id, phase } = await draft.complete(args);
    if (phase === 'approval') await calls.decide(id, operator, { decision: 'no' });
    return (await calls.wait(id, 30_000)) ?? call(id);
  };
  expect(await made({ argv: ['ls'] })).toMatchObject({ status: 'SUCCEEDED' });
  // Its arguments are no shell's: what stands behind it is a name of a file.
  expect(await made({ argv: ['ls', '; touch made'] })).toMatchObject({ status: 'SUCCEEDED' });
  for (const argv of [
    ['env', 'ls'],
    ['sh', '-c', 'ls; touch made'],
    ['bash', '-c', 'touch made'],
    ['busybox', 'touch', 'made'],
    ['xargs', 'touch', 'made'],
    ['find', '.', '-exec', 'touch', 'made', ';'],
    ['./ls'],
    [' ls'],
    ['ls '],
    ['LS'],
    ['/tmp/../tmp/ls'],
    ['ls\u200b'],
  ]) {
    const { error } = await made({ argv, approved: true, force: true, user_approved: 'yes' });
    expect(error, JSON.stringify(argv)).toMatchObject({ code: 'denied', executed: 'no' });
  }
  expect(await made({ argv: ['ls'] })).toMatchObject({ result: { stdout: '' } });
});
