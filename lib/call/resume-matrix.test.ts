import { expect, test } from 'vitest';
import type { Call } from './call.ts';
import { actionOnReturn, type ResumeAction } from './resume-matrix.ts';
import { sampleCall, sampleProvider } from './testing/sample-call.ts';

const KNOWLEDGE = ['nothing', 'nothing_new_journal', 'running', 'started', 'done'] as const;
const row = (call: Call | undefined) =>
  Object.fromEntries(KNOWLEDGE.map((client) => [client, actionOnReturn(call, client)]));
const has = (given: Partial<Call>) =>
  sampleCall({ status: 'RUNNING', provider: sampleProvider, annotations: {}, ...given });
const expected = (...actions: ResumeAction[]) =>
  Object.fromEntries(KNOWLEDGE.map((client, index) => [client, actions[index]]));

test('[RM1] an offer that was not taken is offered again', () => {
  expect(row(has({ phase: 'offered' }))).toEqual(
    expected('offer', 'offer', 'leave', 'offer', 'leave'),
  );
});

test('[RM2] [RM3] [RM4] a granted call with effects', () => {
  for (const phase of ['granted', 'device', 'offered'] as const) {
    expect(row(has({ phase, granted: true }))).toEqual(
      expected('offer', 'outcome_unknown', 'leave', 'outcome_unknown', 'leave'),
    );
  }
});

test('[RM3] a granted call that only reads is offered again', () => {
  expect(
    row(has({ phase: 'granted', granted: true, annotations: { readOnlyHint: true } })),
  ).toEqual(expected('offer', 'offer', 'leave', 'offer', 'leave'));
});

test('[RM5] without claims only what is rerunnable is asked for again', () => {
  const plain = { phase: 'offered', provider: { ...sampleProvider, claims: false } } as const;
  expect(actionOnReturn(has(plain), 'nothing_new_journal')).toBe('leave');
  const reads = has({ ...plain, annotations: { readOnlyHint: true } });
  expect(actionOnReturn(reads, 'nothing_new_journal')).toBe('offer');
});

test('[RM6] of a call that ended meanwhile', () => {
  expect(row(has({ status: 'FAILED', phase: null }))).toEqual(
    expected('forget', 'forget', 'cancel', 'forget', 'leave'),
  );
  expect(row(undefined)).toEqual(expected('leave', 'leave', 'cancel', 'forget', 'leave'));
});

test('[RM4] a call that is being cancelled is not offered again; its cancel clock ends it', () => {
  expect(row(has({ phase: 'cancelling', granted: true }))).toEqual(
    expected('leave', 'leave', 'cancel', 'leave', 'leave'),
  );
});
