import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import type { Agent } from '../auth/principal.ts';
import { rebuildStore } from '../store/integrity/rebuild-store.ts';
import type { Store } from '../store/store.ts';
import { answersOf, differencesOf } from '../store/testing/store-answers.ts';
import { createStoreOnThisThread } from '../store/testing/store-on-this-thread.ts';
import { putMessage, putRun, sampleMessage, sampleRun } from '../store/testing/store-setup.ts';
import { type CallsSetup, operator, reading, setupCalls, tool } from './testing/setup-calls.ts';

const BLOB = `blob_${'1'.repeat(40)}`;
const BLOB_OF_MESSAGE = `blob_${'2'.repeat(40)}`;
const agent: Agent = { kind: 'agent', name: 'bot', tokenId: 'tok_bot', tools: ['note'] };

/** A store with calls of many kinds: ended in each way, open in each phase, and some that were deleted. */
async function makeVariety() {
  const setup = await setupCalls({
    check: ({ toolName }) =>
      toolName === 'danger' ? { verdict: 'ask', reason: 'it deletes' } : { verdict: 'allow' },
  });
  const { calls, invoke, connect, clock, store } = setup;
  const phone = connect('phone', { claims: true, epoch: 'e1' });
  const page = connect('page');
  phone.offer(tool('camera'), tool('danger'));
  page.offer(tool('note', reading), tool('ask'));
  await endedCalls(setup, phone, page);
  const { id: late } = await invoke('ask', { q: 'never answered' }, { timeoutMs: 1_000 });
  await clock.advance(1_500);
  page.succeed(late, 'too late');
  const { id: first } = await invoke('note', { text: 'deleted' });
  page.succeed(first, 'gone');
  await setup.settle();
  await store.toolUse.recent({ limit: 1 });
  await store.write([{ type: 'delete_calls', ids: [first], endedAt: clock.now() }]);
  await invoke('danger', { path: '/tmp/waits' });
  await invoke('camera', { flash: 'offered' });
  const { id: taken } = await invoke('camera', { flash: 'granted' });
  await phone.claim(taken, 1);
  await invoke('absent.tool', {}).catch(() => {});
  await store.write([
    putRun(sampleRun({ run_id: 'run_1' })),
    putRun(sampleRun({ run_id: 'run_empty' })),
    putMessage(sampleMessage({ parts: [{ type: 'text', text: `see ${BLOB_OF_MESSAGE}` }] }), 0),
  ]);
  await setup.settle();
  await calls.cancel(taken, 'Not needed', 'operator', 'operator');
  await setup.settle();
  return setup;
}

type Client = ReturnType<CallsSetup['connect']>;

async function endedCalls({ calls, invoke, settle }: CallsSetup, phone: Client, page: Client) {
  const { id: claimed } = await invoke('camera', { flash: 'on', blob: BLOB });
  await phone.claim(claimed, 1);
  phone.status({
    type: 'tool_status',
    id: claimed,
    tip: 'Focusing',
    progress: { done: 1, total: 2 },
  });
  phone.status({
    type: 'tool_status',
    id: claimed,
    preview: { at: 'half' },
    params: { lens: 'w' },
  });
  phone.succeed(claimed, { picture: BLOB, words: ['sharp', 'blurred'] }, 1);
  const { id: noted } = await invoke(
    'note',
    { text: 'zweihundert Zeichen' },
    { principal: agent, runId: 'run_2' },
  );
  page.show(noted, { stored: true }, { html: '<b>stored</b>' });
  const { id: failed } = await invoke('note', { text: 'bad' });
  page.fail(failed, 'The disk of the page is full', 'quota');
  const { id: empty } = await invoke('note', { text: '日本語' });
  page.succeed(empty, null);
  const { id: allowed } = await invoke('danger', { path: '/tmp/a' });
  await calls.decide(allowed, operator, { decision: 'yes', args: { path: '/tmp/b' } });
  await settle();
  await phone.claim(allowed, 1);
  phone.succeed(allowed, 'removed', 1);
  const { id: denied } = await invoke('danger', { path: '/tmp/c' });
  await calls.decide(denied, operator, { decision: 'no', note: 'never' });
  const { id: byHand } = await invoke('ask', { q: 'by hand' });
  await calls.answer(byHand, operator, { text: 'answered' });
  const { id: cancelled } = await invoke('danger', { path: '/tmp/cancelled' });
  await calls.cancel(cancelled, 'Not needed', 'operator', 'operator');
  await settle();
  await calls.retry(failed, operator);
  const draft = await calls.draft({ principal: operator, runId: 'run_2', tool: 'note' });
  if ('update' in draft) {
    draft.update({ text: 'writ' });
    await draft.abandon('The model stopped');
  }
  await settle();
}

test('[ST86] what is made anew from the log and the documents answers everything as before', async () => {
  const setup = await makeVariety();
  onTestFinished(() => setup.close());
  const { dir, store } = setup;
  const file = join(dir, 'callboard.db');
  const before = await answersOf(store);
  expect(await statesOf(store)).toEqual([
    ...['SUCCEEDED', 'approval', 'cancelled', 'cancelling', 'denied', 'invalid_args', 'offered'],
    ...['timeout late', 'tool_error'],
  ]);
  expect(before.size).toBeGreaterThan(100);
  await setup.close(true);
  loseWhatFollows(file);
  rebuildStore({ dir, report: () => {} });
  const rebuilt = createStoreOnThisThread({ file });
  const after = await answersOf(rebuilt);
  expect(differencesOf(before, after)).toEqual([]);
  await rebuilt.close();
});

/** Nothing of it may be needed. */
function loseWhatFollows(file: string) {
  const database = new DatabaseSync(file);
  database.exec(`DELETE FROM calls; DELETE FROM open_calls; DELETE FROM blob_uses;
    INSERT INTO tool_call_text (tool_call_text) VALUES ('delete-all');
    UPDATE meta SET value = 99999 WHERE key = 'applied'`);
  database.close();
}

/** Each way to end, and each phase, that a call of it has. */
async function statesOf({ listCalls }: Store): Promise<string[]> {
  const { calls } = await listCalls({ limit: 200 });
  const states = calls.map(({ status, phase, error, lateResult }) =>
    [phase ?? error?.code ?? status, ...(lateResult === undefined ? [] : ['late'])].join(' '),
  );
  return [...new Set(states)].sort();
}
