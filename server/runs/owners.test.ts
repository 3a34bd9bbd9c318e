import { expect, test } from 'vitest';
import { type Agent, FIRST_OPERATOR, type Principal } from '../auth/principal.ts';
import { stoppedEnd } from './agent/turn-ending.ts';
import { createOwnerTokens } from './testing/owner-tokens.ts';
import { oldMessage, oldRun, setupRuns, type Turn } from './testing/setup-runs.ts';

const bot: Agent = { kind: 'agent', name: 'bot', tokenId: 'tok_bot', tools: ['echo'] };
const owner = { name: 'agent:bot', token_id: 'tok_bot' };

/** A turn that hangs until it is stopped, and ends as the agent's do. */
const untilStopped: Turn = ({ signal }) =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(stoppedEnd(signal).end));
  });

function withBot(turn?: Turn, more: object = {}) {
  const tokens = createOwnerTokens();
  tokens.add(bot);
  return setupRuns({ tokens, ...(turn ? { turn } : {}), ...more });
}

test('[RU31] a run stores who started it, and its turns are in that one’s name', async () => {
  const { start, ended, store, turns, runs } = withBot();
  const run = await start('Hi', bot);
  expect(run.owner).toEqual(owner);
  await ended(run.run_id);
  expect(await store.getRun(run.run_id)).toMatchObject({ owner });
  // A person may write in it, and lends it nothing.
  await runs.send(run.run_id, { input: 'On', by: FIRST_OPERATOR });
  await ended(run.run_id);
  const asked = (await store.listMessages({ runId: run.run_id, maxChars: 9_999 })).messages;
  expect(asked.flatMap(({ role, author }) => (role === 'user' ? [author] : []))).toEqual([
    ...[undefined, { name: 'operator', token_id: null }],
  ]);
  const principal = { kind: 'run', runId: run.run_id, owner: bot };
  expect(turns.map((turn) => turn.principal)).toEqual([principal, principal]);
});

test('[RU60] a step acts for no more than the person who wrote what it answers, of a revoked token for nothing', async () => {
  const askers: unknown[] = [];
  const { start, ended, runs } = withBot(async ({ authorOf, transcript }) => {
    const { author } = transcript.messages().findLast(({ role }) => role === 'user') ?? {};
    askers.push(author && authorOf?.(author));
    return { status: 'idle' };
  });
  const run = await start('Hi', bot);
  await ended(run.run_id);
  const olga = { ...FIRST_OPERATOR, name: 'olga', tokenId: 'tok_gone' };
  for (const by of [FIRST_OPERATOR, olga]) {
    const count = askers.length;
    await runs.send(run.run_id, { input: 'On', by });
    await expect.poll(() => askers.length).toBe(count + 1);
    await expect.poll(async () => (await runs.get(run.run_id))?.status).toBe('idle');
  }
  const revoked = { kind: 'operator', role: 'viewer', tokenId: 'tok_gone' };
  expect(askers).toMatchObject([undefined, FIRST_OPERATOR, revoked]);
});

test('[RU31] a run of the first operator, and one of before, is in that one’s name', async () => {
  const { start, store, runs, turns, ended } = setupRuns();
  const own = await start();
  expect(own).not.toHaveProperty('owner');
  await store.write([{ type: 'put_run', run: oldRun() }]);
  await runs.send('run_old', { input: 'On' });
  await ended('run_old');
  expect(turns.map(({ principal }) => principal)).toMatchObject([
    { kind: 'run', owner: FIRST_OPERATOR },
    { kind: 'run', owner: FIRST_OPERATOR },
  ]);
});

test('[RU31] a turn that is taken up after a restart is in the name of its owner', async () => {
  const { store, runs, turns, ended, clock } = withBot();
  await store.write([
    { type: 'put_run', run: oldRun({ status: 'running', owner }) },
    { type: 'put_message', message: oldMessage(), position: 0 },
  ]);
  await runs.recover();
  const over = ended('run_old');
  await expect
    .poll(() => {
      clock.advance(3_000);
      return turns.map(({ principal }) => principal);
    })
    .toEqual([{ kind: 'run', runId: 'run_old', owner: bot }]);
  await over;
});

test('[RU32] a turn whose owner’s token was revoked meanwhile is not taken up, and says why', async () => {
  const { store, runs, turns, ended, clock } = setupRuns();
  await store.write([
    { type: 'put_run', run: oldRun({ status: 'running', owner }) },
    { type: 'put_message', message: oldMessage(), position: 0 },
  ]);
  await runs.recover();
  const over = ended('run_old');
  await expect
    .poll(async () => {
      clock.advance(3_000);
      return (await runs.get('run_old'))?.error?.code;
    })
    .toBe('owner_revoked');
  await over;
  expect(turns).toEqual([]);
});

test('[RU32] revoking the owner’s token ends the turn that runs, with the reason, and no other', async () => {
  const { start, ended, tokens, runs } = withBot(untilStopped);
  const run = await start('Hi', bot);
  const other = await start('Mine');
  const over = ended(run.run_id);
  tokens.revoke('tok_bot');
  await over;
  expect(await runs.get(run.run_id)).toMatchObject({
    status: 'failed',
    error: { code: 'owner_revoked' },
  });
  expect(await runs.get(other.run_id)).toMatchObject({ status: 'running' });
  expect(await runs.send(run.run_id, { input: 'On' })).toMatchObject({
    ok: false,
    code: 'conflict',
    message: expect.stringContaining('revoked'),
  });
});

test('[RU31] of two who call in a new run at once, the first one owns it', async () => {
  const { claim, store } = withBot();
  const other: Agent = { ...bot, name: 'other', tokenId: 'tok_other' };
  const claims = await Promise.all([claim('run_x', 'x', bot), claim('run_x', 'x', other)]);
  expect(claims.map(({ ownerToken }) => ownerToken)).toEqual(['tok_bot', 'tok_bot']);
  expect((await claim('run_x', 'x', other)).ownerToken).toBe('tok_bot');
  expect(await store.getRun('run_x')).toMatchObject({ owner });
});

test('[RU43] of the runs of one agent 64 turns go on at a time; those of others are not counted', async () => {
  const other: Agent = { ...bot, name: 'other', tokenId: 'tok_other' };
  const { runs, tokens } = withBot(untilStopped);
  tokens.add(other);
  const ask = (principal: Principal) => runs.start({ principal, input: 'Hi' });
  const asked = await Promise.all(Array.from({ length: 80 }, () => ask(bot)));
  const ids = asked.flatMap((outcome) => (outcome.ok ? [outcome.run.run_id] : []));
  expect(ids).toHaveLength(64);
  expect(asked.at(-1)).toMatchObject({ ok: false, code: 'conflict' });
  for (const principal of [other, FIRST_OPERATOR]) {
    expect(await ask(principal)).toMatchObject({ ok: true });
  }
  // A message in a run whose turn goes on begins none.
  const [first = '', second = ''] = ids;
  expect(await runs.send(first, { input: 'More' })).toMatchObject({ ok: true });
  await runs.cancel(first);
  expect(await runs.send(second, { input: 'More' })).toMatchObject({ ok: true });
  expect(await ask(bot)).toMatchObject({ ok: true });
  expect(await runs.send(first, { input: 'Again' })).toMatchObject({ ok: false, code: 'conflict' });
});
