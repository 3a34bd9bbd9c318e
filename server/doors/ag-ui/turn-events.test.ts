import { describe, expect, test, vi } from 'vitest';
import type { CardUpdate } from '#lib/protocol/card';
import type { Message, MessagePart, RunSummary } from '#lib/protocol/run';
import { jsonPatch } from './json-patch.ts';
import { TurnEvents } from './turn-events.ts';

const RUN: RunSummary = {
  ...{ run_id: 'run_1', title: 'A run', model: 'rehearsal', tools: null, step: 1, max_steps: 10 },
  ...{ status: 'running', error: null, created_at: 1, updated_at: 1 },
};

/** A turn whose events the test gives; it is running. */
function turn() {
  const events = new TurnEvents({ threadId: 'run_1', runId: 'msg_1', givenId: 'theirs' });
  const message = (parts: MessagePart[], more: Partial<Message> = {}) => {
    const of = { message_id: 'msg_2', run_id: 'run_1', role: 'assistant', created_at: 1 } as const;
    const whole: Message = { ...of, status: 'streaming', parts, ...more };
    return events.take({ type: 'message', seq: 1, run_id: 'run_1', message: whole });
  };
  const call = (update: CardUpdate) =>
    events.take({ type: 'call', seq: 1, run_id: 'run_1', tool_call_id: 'tc_1', update });
  const run = (more: Partial<RunSummary>) =>
    events.take({ type: 'run', seq: 1, run: { ...RUN, ...more } });
  run({});
  return { events, message, call, run };
}

const typesOf = (events: readonly { readonly type: string }[]) => events.map(({ type }) => type);
const text = (value: string): MessagePart => ({ type: 'text', text: value });
const part: MessagePart = { type: 'tool_call', tool_call_id: 'tc_1' };

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

describe('the order', () => {
  test('[AG2] what is open at the end of the turn ends first, and nothing comes after it', () => {
    const { message, call, run } = turn();
    message([text('Let me see'), part]);
    call({ tool_name: 'echo', status: 'WAIT', phase: 'streaming', params: {} });
    expect(typesOf(run({ status: 'idle' }))).toEqual([
      ...['TEXT_MESSAGE_END', 'TOOL_CALL_END', 'RUN_FINISHED'],
    ]);
    expect(call({ status: 'ERROR' })).toEqual([]);
    expect(run({ status: 'failed' })).toEqual([]);
  });

  test('[AG2] a call has one result, whatever comes after it', () => {
    const { message, call } = turn();
    message([part]);
    call({ tool_name: 'echo', status: 'SUCCESS', phase: null, params: {}, result: 'one' });
    expect(typesOf(call({ late_result: true }))).toEqual(['ACTIVITY_DELTA']);
    expect(message([part], { status: 'done' })).toEqual([]);
  });

  test('[AG2] a call that a program made in the run is an activity alone', () => {
    const { call } = turn();
    expect(typesOf(call({ tool_name: 'echo', status: 'SUCCESS', params: {} }))).toEqual([
      'ACTIVITY_SNAPSHOT',
    ]);
  });

  test('[AG2] no delta is empty, and none comes twice', () => {
    const { events, message } = turn();
    expect(message([text('')])).toEqual([]);
    const delta = { seq: 1, run_id: 'run_1', message_id: 'msg_2', index: 0 } as const;
    const grown = events.take({ type: 'message_delta', ...delta, part: 'text', delta: 'Hello' });
    expect(typesOf(grown)).toEqual(['TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT']);
    expect(
      events.take({ type: 'message_delta', ...delta, part: 'reasoning', delta: 'Hm' }),
    ).toEqual([]);
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
});

describe('a patch', () => {
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

  test('[AG9] never goes into an object that has a key for its prototype', () => {
    const after = JSON.parse('{"p":{"__proto__":1}}');
    expect(jsonPatch({ p: {} }, after)).toEqual([{ op: 'replace', path: '/p', value: after.p }]);
  });
});

test('[AG20] a snapshot has the newest messages that fit, and the count of those before', () => {
  const { events } = turn();
  const messages = ['a', 'b', 'c', 'd'].map(
    (name): Message => ({
      ...{ message_id: name, run_id: 'run_1', role: 'user', created_at: 1, status: 'done' },
      // Three bytes each.
      parts: [text('话'.repeat(130_000))],
    }),
  );
  const [snapshot, left] = events.begin({ ...RUN, messages }, []);
  expect(snapshot).toMatchObject({
    type: 'MESSAGES_SNAPSHOT',
    messages: [{ id: 'c' }, { id: 'd' }],
  });
  expect(left).toEqual({
    ...{ type: 'CUSTOM', name: 'callboard.messages_left_out', value: { count: 2 } },
  });
});

test('[AG20] a newest message that is longer than that is in the snapshot all the same', () => {
  const { events } = turn();
  const of = { run_id: 'run_1', role: 'user', created_at: 1, status: 'done' } as const;
  const messages = ['a', 'b'].map(
    (name): Message => ({ ...of, message_id: name, parts: [text(name.repeat(1_200_000))] }),
  );
  const [snapshot] = events.begin({ ...RUN, messages }, []);
  expect(snapshot).toMatchObject({ messages: [{ id: 'b' }] });
});
