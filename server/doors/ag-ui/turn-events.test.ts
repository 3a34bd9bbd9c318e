import { expect, test, vi } from 'vitest';
import type { Message } from '#lib/protocol/run';
import { ofCall, RUN, scriptedRun, text, written } from '../../testing/scripted-run.ts';
import { type AgUiEvent, jsonPatch, TurnEvents } from './turn-events.ts';

/** A turn whose events the test gives; it is running. */
function turn() {
  const events = new TurnEvents({ threadId: 'run_1', runId: 'msg_1', givenId: 'theirs' });
  const script = scriptedRun<AgUiEvent>();
  script.follow((event) => {
    if (event.type === 'end') script.stream.close();
    return events.take(event);
  });
  script.run();
  return { events, ...script };
}

const typesOf = (events: readonly { readonly type: string }[]) => events.map(({ type }) => type);

test('[AG21] an update is work for what it changes, whatever else the card has', () => {
  const { call } = turn();
  const params = { text: 'x'.repeat(16_000), list: Array.from({ length: 500 }, () => ({ a: 1 })) };
  call({ tool_name: 'echo', status: 'DOING', phase: 'granted', params });
  const texts = vi.spyOn(JSON, 'stringify');
  expect(call({ tip: 'Half' })).toMatchObject([{ patch: [{ op: 'add', path: '/tip' }] }]);
  const written = texts.mock.results.map(({ value }) => String(value).length);
  texts.mockRestore();
  expect(written.reduce((sum, one) => sum + one, 0)).toBeLessThan(100);
});

test('[AG2] what is open at the end of the turn ends first, and nothing comes after it', () => {
  const { message, call, run } = turn();
  message([text('Let me see'), ofCall]);
  call({ tool_name: 'echo', status: 'WAIT', phase: 'streaming', params: {} });
  expect(typesOf(run({ status: 'idle' }))).toEqual([
    ...['TEXT_MESSAGE_END', 'TOOL_CALL_END', 'RUN_FINISHED'],
  ]);
  expect(call({ status: 'ERROR' })).toEqual([]);
  expect(run({ status: 'failed' })).toEqual([]);
});

test('[AG2] a call has one result, whatever comes after it', () => {
  const { message, call } = turn();
  message([ofCall]);
  call({ tool_name: 'echo', status: 'SUCCESS', phase: null, params: {}, result: 'one' });
  expect(typesOf(call({ late_result: true }))).toEqual(['ACTIVITY_DELTA']);
  expect(message([ofCall], { status: 'done' })).toEqual([]);
});

test('[AG2] a call that a program made in the run is an activity alone', () => {
  const { call } = turn();
  expect(typesOf(call({ tool_name: 'echo', status: 'SUCCESS', params: {} }))).toEqual([
    'ACTIVITY_SNAPSHOT',
  ]);
});

test('[AG2] no delta is empty, and none comes twice', () => {
  const { delta, message } = turn();
  expect(message([text('')])).toEqual([]);
  expect(typesOf(delta(0, 'Hello'))).toEqual(['TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT']);
  expect(delta(1, 'Hm', 'reasoning')).toEqual([]);
  expect(message([text('Hello you')])).toMatchObject([{ delta: ' you' }]);
  expect(typesOf(message([text('Hello you')], { status: 'done' }))).toEqual(['TEXT_MESSAGE_END']);
});

test('a message of a person from elsewhere is shown, and not the one that the front end sent', () => {
  const { message } = turn();
  const role = 'user' as const;
  expect(message([text('Mine')], { role, given_id: 'theirs' })).toEqual([]);
  expect(message([text('Stop that')], { role, message_id: 'msg_3' })).toMatchObject([
    { type: 'TEXT_MESSAGE_START', messageId: 'msg_3', role },
    { delta: 'Stop that' },
    { type: 'TEXT_MESSAGE_END' },
  ]);
});

test.each([
  [{ a: 1 }, { a: 1 }, []],
  [{ a: 1 }, { a: 2 }, [{ op: 'replace', path: '/a', value: 2 }]],
  [{ a: 1 }, {}, [{ op: 'remove', path: '/a' }]],
  [{}, { toString: 1 }, [{ op: 'add', path: '/toString', value: 1 }]],
  [{ p: { 'a/b': 1 } }, { p: { 'a/b': 2 } }, [{ op: 'replace', path: '/p/a~1b', value: 2 }]],
  [{ p: {} }, { p: { 'a~1': 2 } }, [{ op: 'add', path: '/p/a~01', value: 2 }]],
  [{ p: { q: { r: 1 } } }, { p: { q: {} } }, [{ op: 'replace', path: '/p/q', value: {} }]],
  [{ p: [1] }, { p: [] }, [{ op: 'replace', path: '/p', value: [] }]],
])('[AG9] from %j to %j', (before, after, patch) => {
  expect(jsonPatch(before, after)).toEqual(patch);
});

test('[AG9] a patch never goes into an object that has a key for its prototype', () => {
  const after = JSON.parse('{"p":{"__proto__":1}}');
  expect(jsonPatch({ p: {} }, after)).toEqual([{ op: 'replace', path: '/p', value: after.p }]);
});

/** What a front end that comes later is shown of these messages. */
function snapshotOf(texts: Record<string, string>) {
  const { events, stream } = turn();
  const messages = Object.entries(texts).map(
    ([id, words]): Message =>
      written([text(words)], { message_id: id, role: 'user', status: 'done' }),
  );
  return events.begin({ ...RUN, messages }, [], stream);
}

test('[AG20] a snapshot has the newest messages that fit, and the count of those before', () => {
  // Three bytes each.
  const long = '话'.repeat(130_000);
  const [snapshot, left] = snapshotOf({ a: long, b: long, c: long, d: long });
  expect(snapshot).toMatchObject({
    type: 'MESSAGES_SNAPSHOT',
    messages: [{ id: 'c' }, { id: 'd' }],
  });
  expect(left).toEqual({
    ...{ type: 'CUSTOM', name: 'callboard.messages_left_out', value: { count: 2 } },
  });
});

test('[AG20] a newest message that is longer than that is in the snapshot all the same', () => {
  const [snapshot] = snapshotOf({ a: 'a'.repeat(1_200_000), b: 'b'.repeat(1_200_000) });
  expect(snapshot).toMatchObject({ messages: [{ id: 'b' }] });
});
