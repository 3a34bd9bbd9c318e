import { expect, test } from 'vitest';
import {
  type ClientKnowledge,
  type ResumeAction,
  type ResumeCase,
  resumeAction,
} from './resume-matrix.ts';

const KNOWLEDGE = ['nothing', 'nothing_new_journal', 'running', 'started', 'done'] as const;
const base = { rerunnable: false, claims: true };
const row = (more: Omit<ResumeCase, 'client'>) =>
  Object.fromEntries(KNOWLEDGE.map((client) => [client, resumeAction({ ...more, client })]));
const expected = (...actions: ResumeAction[]) =>
  Object.fromEntries(KNOWLEDGE.map((client, index) => [client, actions[index]]));

test('[RM1] an offer that was not taken is offered again', () => {
  expect(row({ ...base, server: 'offered' })).toEqual(
    expected('offer', 'offer', 'leave', 'offer', 'leave'),
  );
});

test('[RM2] [RM3] [RM4] a granted call with effects', () => {
  for (const server of ['granted', 'device'] as const) {
    expect(row({ ...base, server })).toEqual(
      expected('offer', 'outcome_unknown', 'leave', 'outcome_unknown', 'leave'),
    );
  }
});

test('[RM3] a granted call that only reads is offered again', () => {
  expect(row({ ...base, server: 'granted', rerunnable: true })).toEqual(
    expected('offer', 'offer', 'leave', 'offer', 'leave'),
  );
});

test('[RM5] without claims only what is rerunnable is asked for again', () => {
  const knowledge: ClientKnowledge = 'nothing_new_journal';
  const plain = { server: 'offered', client: knowledge, claims: false } as const;
  expect(resumeAction({ ...plain, rerunnable: false })).toBe('leave');
  expect(resumeAction({ ...plain, rerunnable: true })).toBe('offer');
});

test('[RM6] of a call that ended meanwhile', () => {
  expect(row({ ...base, server: 'final' })).toEqual(
    expected('forget', 'forget', 'cancel', 'forget', 'leave'),
  );
  expect(row({ ...base, server: 'unknown' })).toEqual(
    expected('leave', 'leave', 'cancel', 'forget', 'leave'),
  );
});

test('[RM4] a call that is being cancelled is not offered again; its cancel clock ends it', () => {
  expect(row({ ...base, server: 'cancelling' })).toEqual(
    expected('leave', 'leave', 'cancel', 'leave', 'leave'),
  );
});
