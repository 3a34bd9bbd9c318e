import { expect, test } from 'vitest';
import { createRunsStore, foldRuns, NO_RUNS, newestRuns } from './runs-store.ts';
import { delta, message, messageEvent, run, snapshot } from './testing/fixtures.ts';

const text = (value: string) => ({ type: 'text', text: value }) as const;

test('[SF6] a run replaces its summary and leaves its messages', () => {
  const before = foldRuns(NO_RUNS, [messageEvent(1, message('m1'))]);
  const after = foldRuns(before, [{ type: 'run', seq: 2, run: run('run_1', { status: 'idle' }) }]);
  expect(after.runs.run_1?.status).toBe('idle');
  expect(after.messages.run_1).toBe(before.messages.run_1);
});

test('[SF7] a message replaces the one of its id in its place', () => {
  const state = foldRuns(NO_RUNS, [
    messageEvent(1, message('m1')),
    messageEvent(2, message('m2')),
    messageEvent(3, message('m1', { status: 'done' })),
  ]);
  expect(state.messages.run_1?.map((one) => [one.message_id, one.status])).toEqual([
    ['m1', 'done'],
    ['m2', 'streaming'],
  ]);
});

test('[SF8] a delta is appended to its part, and begins the part that comes next', () => {
  const state = foldRuns(NO_RUNS, [
    messageEvent(1, message('m1', { parts: [text('It ')] })),
    delta(2, 'm1', 0, 'is '),
    delta(3, 'm1', 0, 'late.'),
    delta(4, 'm1', 1, 'Yes.'),
  ]);
  expect(state.messages.run_1?.[0]?.parts).toEqual([text('It is late.'), text('Yes.')]);
});

test('[SF8] a delta that fits nowhere changes nothing', () => {
  const call = { type: 'tool_call', tool_call_id: 'tc_a' } as const;
  const state = foldRuns(NO_RUNS, [messageEvent(1, message('m1', { parts: [call] }))]);
  expect(foldRuns(state, [delta(2, 'm1', 0, 'of another kind')])).toBe(state);
  expect(foldRuns(state, [delta(2, 'm1', 5, 'beyond the end')])).toBe(state);
  expect(foldRuns(state, [delta(2, 'm9', 0, 'of no message')])).toBe(state);
});

test('[SF5] a snapshot replaces the runs, and equal messages keep their identity', () => {
  const store = createRunsStore();
  const known = message('m1', { parts: [text('Hello')] });
  store
    .getState()
    .apply([
      { type: 'run', seq: 1, run: run('run_gone') },
      { type: 'run', seq: 2, run: run() },
      messageEvent(3, known),
    ]);
  const before = store.getState().messages.run_1;
  const copy = structuredClone({ ...run(), messages: [known] });
  store.getState().replace(snapshot(9, { runs: [copy] }));
  expect(Object.keys(store.getState().runs)).toEqual(['run_1']);
  expect(store.getState().messages.run_1).toBe(before);
});

test('[SF9] a fetched run fills what is unknown and leaves what events have said', () => {
  const store = createRunsStore();
  const live = message('m2', { parts: [text('newer')] });
  store.getState().apply([messageEvent(1, live)]);
  const stale = message('m2', { parts: [text('older')] });
  store.getState().load({ ...run(), messages: [message('m1'), stale] });
  expect(store.getState().runs.run_1?.title).toBe('Where am I?');
  expect(store.getState().messages.run_1?.map((one) => one.message_id)).toEqual(['m1', 'm2']);
  expect(store.getState().messages.run_1?.[1]).toBe(live);
});

test('[SF9] a message that an answer brings before its event stands where the answer has it', () => {
  const store = createRunsStore();
  store.getState().apply([messageEvent(1, message('m1')), messageEvent(2, message('m2'))]);
  store.getState().load({ ...run(), messages: ['m1', 'm2', 'm3'].map((id) => message(id)) });
  store.getState().apply([messageEvent(3, message('m3')), messageEvent(4, message('m4'))]);
  store.getState().load({ ...run(), messages: ['m1', 'm2', 'm3'].map((id) => message(id)) });
  const ids = store.getState().messages.run_1?.map((one) => one.message_id);
  expect(ids).toEqual(['m1', 'm2', 'm3', 'm4']);
});

test('[SF9] a fetched run does not turn back a summary that is known', () => {
  const store = createRunsStore();
  store.getState().apply([{ type: 'run', seq: 1, run: run('run_1', { status: 'cancelled' }) }]);
  store.getState().load({ ...run(), messages: [] });
  expect(store.getState().runs.run_1?.status).toBe('cancelled');
});

test('[SF6] [DE11] runs are listed by their last change, newest first, without those of sub-agents', () => {
  const parent = { run_id: 'run_new', call_id: 'tc_1', agent: 'helper', depth: 1 };
  const store = createRunsStore();
  store.getState().apply([
    { type: 'run', seq: 1, run: run('run_old', { updated_at: 1 }) },
    { type: 'run', seq: 2, run: run('run_new', { updated_at: 5 }) },
    { type: 'run', seq: 3, run: run('run_child', { updated_at: 6, parent }) },
  ]);
  expect(newestRuns(store.getState()).map((one) => one.run_id)).toEqual(['run_new', 'run_old']);
});
