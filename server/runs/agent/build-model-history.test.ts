import { expect, test } from 'vitest';
import type { Call, CallFields } from '#lib/call/call';
import { outputOfRecord } from '#lib/call/model-output';
import type { Message, MessagePart } from '#lib/protocol/run';
import { buildModelHistory, type ImageWay } from './build-model-history.ts';
import { fakeCall } from './testing/fakes.ts';

let ids = 0;
const message = (role: Message['role'], ...parts: MessagePart[]): Message => ({
  message_id: `msg_${++ids}`,
  run_id: 'run_1',
  role,
  parts,
  status: 'done',
  created_at: 0,
});
const input = (text: string): MessagePart => ({ type: 'text', text });
const called = (id: string): MessagePart => ({ type: 'tool_call', tool_call_id: id });

const image = { blob_id: 'blob_1', media_type: 'image/png', size: 1 };

function build(messages: Message[], calls: Call[] = [], imageWay: ImageWay = 'none') {
  return buildModelHistory({
    messages,
    calls: new Map(calls.map((call) => [call.id, call])),
    images: new Map([['blob_1', { bytes: new Uint8Array([1]), mediaType: 'image/jpeg' }]]),
    replays: new Map(),
    imageWay,
    toModelName: (name) => name.replaceAll('.', '_'),
    outputOf: (record) => outputOfRecord(record),
  }).messages;
}

const done = (id: string, more: CallFields = {}) =>
  fakeCall({ toolName: 'a.b', status: 'SUCCEEDED', result: `result of ${id}`, ...more, id });

test('[AL40] each call is followed by its result, in call order, under its name', () => {
  const messages = [
    message('user', input('go')),
    message('assistant', input('I call'), called('tc_1'), called('tc_2')),
    message('assistant', input('Done.')),
  ];
  expect(build(messages, [done('tc_2', { args: { x: 1 } }), done('tc_1')])).toEqual([
    { role: 'user', content: 'go' },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'I call' },
        { type: 'tool-call', toolCallId: 'tc_1', toolName: 'a_b', input: {} },
        { type: 'tool-call', toolCallId: 'tc_2', toolName: 'a_b', input: { x: 1 } },
      ],
    },
    {
      role: 'tool',
      content: ['tc_1', 'tc_2'].map((id) => ({
        type: 'tool-result',
        toolCallId: id,
        toolName: 'a_b',
        output: { type: 'text', value: `result of ${id}` },
      })),
    },
    { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] },
  ]);
});

test('[AL46] in the place of messages that have no room stands a line that says so', () => {
  const history = buildModelHistory({
    messages: [message('assistant', input('Done.'))],
    older: 5,
    replays: new Map(),
    ...{ calls: new Map(), images: new Map(), imageWay: 'none', toModelName: (name) => name },
    outputOf: (record) => outputOfRecord(record),
  });
  expect(history.messages).toEqual([
    { role: 'user', content: expect.stringContaining('older messages') },
    { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] },
  ]);
});

test.each([
  ['still open', fakeCall({ id: 'tc_1', toolName: 'a.b', status: 'RUNNING' })],
  ['not there', undefined],
])('[AL41] a call that is %s has a neutral result', (_, call) => {
  const history = build([message('assistant', called('tc_1'))], call ? [call] : []);
  expect(history).toHaveLength(2);
  expect(JSON.stringify(history[1])).toContain('may or may not have run');
});

test('[AL40] a failed call has its error as result', () => {
  const error = { code: 'denied', message: 'not now', executed: 'no' } as const;
  const call = fakeCall({ id: 'tc_1', toolName: 'a.b', status: 'FAILED', error });
  expect(build([message('assistant', called('tc_1'))], [call])[1]).toMatchObject({
    content: [{ output: { type: 'text', value: JSON.stringify({ error }) } }],
  });
});

test('[AL42] notices, reasoning and what is empty are not sent', () => {
  const messages = [
    message('user', input('')),
    message('assistant'),
    message('assistant', { type: 'notice', code: 'x', text: 'secret' }),
    message('assistant', { type: 'reasoning', text: 'hm' }, input('Yes.'), input('')),
  ];
  expect(build(messages)).toEqual([
    { role: 'assistant', content: [{ type: 'text', text: 'Yes.' }] },
  ]);
});

test('[AL43] pictures in a user’s message stand after all results of the step', () => {
  const calls = [done('tc_1', { attachments: [image] }), done('tc_2', { attachments: [image] })];
  const messages = [message('assistant', called('tc_1'), called('tc_2'))];
  const history = build(messages, calls, 'user_message');
  expect(history.map(({ role }) => role)).toEqual(['assistant', 'tool', 'user']);
  expect(history[2]?.content).toMatchObject([
    { type: 'text', text: expect.stringContaining('a_b') },
    { type: 'file', mediaType: 'image/jpeg', data: new Uint8Array([1]) },
    { type: 'text' },
    { type: 'file' },
  ]);
});

test('[AL12] pictures in a result are parts of it, and none for who takes none', () => {
  const messages = [message('assistant', called('tc_1'))];
  const calls = [done('tc_1', { attachments: [image] })];
  expect(build(messages, calls, 'tool_result')[1]).toMatchObject({
    content: [{ output: { type: 'content', value: [{ type: 'text' }, { type: 'file' }] } }],
  });
  expect(build(messages, calls, 'none')[1]).toMatchObject({
    content: [
      {
        output: { type: 'text', value: expect.stringContaining('Not shown to you: picture 1;') },
      },
    ],
  });
});

test('[AL12] pictures of a person go along, and a model that is shown none is told so', () => {
  const asked = message('user', input('What is this?'), { type: 'file', file: image });
  expect(build([asked], [], 'tool_result')).toMatchObject([
    {
      role: 'user',
      content: [{ type: 'text', text: expect.stringContaining('What is this?') }, { type: 'file' }],
    },
  ]);
  expect(build([asked])).toEqual([
    {
      role: 'user',
      content: expect.stringMatching(/^What is this\?\n.*\n\[Not shown to you: picture 1; /),
    },
  ]);
});

test('[AL45] hidden characters are taken out of what people wrote', () => {
  expect(build([message('user', input('a\u{E0041}\u200Bb'))])).toEqual([
    { role: 'user', content: 'ab' },
  ]);
});
