import { expect, test } from 'vitest';
import type { Call } from '#lib/call/call';
import { changed, sampleCall, sampleProvider } from '#lib/call/testing/sample-call';
import { draftsOfCall, draftsOfRun } from './notice-drafts.ts';
import { finishedRun, sampleRun } from './testing/sample-runs.ts';
import { asking, finished } from './testing/setup-outbox.ts';

const reported = (call: Call, previous?: Call) =>
  draftsOfCall(call, previous).map(({ type, data }) => ({ type, ...data }));

const failed = (code: 'approval_expired' | 'cancelled' | 'tool_error', executed: 'no' | 'yes') =>
  finished({ status: 'FAILED', error: { code, message: 'a text of the tool', executed } });

test('[OB1] a call that begins to wait for a person is reported once', () => {
  const expires = { name: 'approval', deadline_at: 1_700_000_600 } as const;
  const call = asking({ provider: sampleProvider });
  const waits = { ...call, card: { ...call.card, clock: expires, client_name: 'Pixel 8' } };
  expect(reported(waits)).toMatchObject([
    {
      ...{ type: 'approval.requested', reason: 'It pays', expires_at: 1_700_000_600 },
      client: { client_id: 'cl_1', name: 'Pixel 8' },
    },
  ]);
  expect(reported({ ...waits, version: 2 }, waits)).toEqual([]);
});

test.each([
  ['yes', 'operator:olga'],
  ['no', 'operator'],
  ['always', 'operator'],
  ['answer', 'operator'],
] as const)('[OB1] the decision "%s" is reported with who decided', (decision, by) => {
  const before = asking();
  const note = 'a note of a person';
  const after = sampleCall({
    card: { ...before.card, approval_decision: { by, decision, note } },
  });
  const [only, ...more] = reported(after, before);
  expect(only).toMatchObject({ type: 'approval.decided', decision, decided_by: by });
  expect([more, JSON.stringify(only)]).toEqual([[], expect.not.stringContaining(note)]);
});

test('[OB1] a call that is asked about again is decided by the newer decision alone', () => {
  const card = { approval_decision: { by: 'operator', decision: 'yes' } } as const;
  const again = asking({ card });
  expect(reported(sampleCall({ card: again.card }), again)).toMatchObject([{ decision: 'ended' }]);
});

test('[OB1] an approval that expired, and one whose call was cancelled, have no person', () => {
  expect(reported(failed('approval_expired', 'no'), asking())).toMatchObject([
    { type: 'approval.decided', decision: 'expired', decided_by: null },
    { type: 'call.finished', outcome: 'approval_expired', executed: 'no' },
  ]);
  expect(reported(failed('cancelled', 'no'), asking())).toMatchObject([
    { decision: 'ended', decided_by: null },
    { outcome: 'cancelled' },
  ]);
});

test('[OB1] the end of a call is reported once, with its outcome and how long it took', () => {
  const running = sampleCall({ status: 'RUNNING', phase: 'granted' });
  const end = finished({ createdAt: 1_000, completedAt: 1_250 });
  expect(reported(end, running)).toMatchObject([
    { type: 'call.finished', outcome: 'ok', executed: null, duration_ms: 250 },
  ]);
  expect(reported(changed(end, { lateResult: 1 }), end)).toEqual([]);
  const [error] = reported(failed('tool_error', 'yes'), running);
  expect(error).toMatchObject({ outcome: 'tool_error', executed: 'yes' });
  expect(JSON.stringify(error)).not.toContain('a text of the tool');
});

test('[OB1] nothing between is reported', () => {
  const queued = sampleCall();
  const running = sampleCall({ status: 'RUNNING', phase: 'granted' });
  expect([reported(queued), reported(running, queued)]).toEqual([[], []]);
});

test('[OB1] the end of a turn is reported, but for those of sub-agents', () => {
  const error = { code: 'model_quota', message: 'words' };
  expect(draftsOfRun(finishedRun({ status: 'failed', error }), sampleRun())).toEqual([
    {
      type: 'run.finished',
      data: {
        ...{ run_id: 'run_1', title: 'Pay the bill', status: 'failed', error: 'model_quota' },
        link: '/?run=run_1',
      },
    },
  ]);
  expect(draftsOfRun(finishedRun({ title: 'Other' }), finishedRun())).toEqual([]);
  expect(draftsOfRun(sampleRun({ step: 2 }), sampleRun())).toEqual([]);
  const parent = { run_id: 'run_0', call_id: 'tc_0', agent: 'helper', depth: 1 };
  expect(draftsOfRun(finishedRun({ parent }), sampleRun({ parent }))).toEqual([]);
});
