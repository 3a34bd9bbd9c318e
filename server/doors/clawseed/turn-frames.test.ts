import { expect, test } from 'vitest';
import type { CardUpdate } from '#lib/protocol/card';
import type { Message, MessagePart, RunSummary } from '#lib/protocol/run';
import type { WatchEvent } from '#lib/protocol/watch-messages';
import { TurnFrames } from './turn-frames.ts';

const run = (given: Partial<RunSummary> = {}): WatchEvent => ({
  ...{ type: 'run', seq: 1 },
  run: {
    ...{ run_id: 'r', title: 'Phone', status: 'running', model: null, tools: null, step: 1 },
    ...{ max_steps: 10, error: null, created_at: 1, updated_at: 1 },
    ...given,
  },
});
const written = (...parts: MessagePart[]): Message => ({
  ...{ message_id: 'm', run_id: 'r', role: 'assistant', parts, status: 'streaming', created_at: 1 },
});
const message = (...parts: MessagePart[]): WatchEvent => ({
  ...{ type: 'message', seq: 1, run_id: 'r', message: written(...parts) },
});
const delta = (index: number, text: string): WatchEvent => ({
  ...{ type: 'message_delta', seq: 1, run_id: 'r', message_id: 'm', index },
  ...{ part: 'text', delta: text },
});
const call = (update: CardUpdate): WatchEvent => ({
  ...{ type: 'call', seq: 1, tool_call_id: 'tc', run_id: 'r', update },
});
const text = (words: string): MessagePart => ({ type: 'text', text: words });
const ofCall: MessagePart = { type: 'tool_call', tool_call_id: 'tc' };

const NOW = 1_700_000_000_000;

function setup() {
  const frames = new TurnFrames('Phone', () => NOW);
  const take = (...events: WatchEvent[]) => events.flatMap((event) => frames.take(event));
  take(run());
  return { frames, take };
}

test('[CLS5] each letter comes once, as a delta or with the message, and done repeats all of it', () => {
  const { take } = setup();
  const frames = take(
    message({ type: 'reasoning', text: 'Hm' }, text('Let ')),
    delta(1, 'me '),
    message({ type: 'reasoning', text: 'Hm' }, text('Let me look.'), ofCall),
    message({ type: 'reasoning', text: 'Hm' }, text('Let me look.'), ofCall, text('A Pixel')),
    delta(3, '.'),
    run({ status: 'idle' }),
  );
  expect(frames).toEqual([
    { type: 'thinking', content: 'Hm' },
    { type: 'chunk', content: 'Let ' },
    { type: 'chunk', content: 'me ' },
    { type: 'chunk', content: 'look.' },
    { type: 'chunk', content: '\n\nA Pixel' },
    { type: 'chunk', content: '.' },
    { type: 'done', full_response: 'Let me look.\n\nA Pixel.' },
  ]);
  expect(take(run(), run({ status: 'idle' }))).toEqual([{ type: 'done', full_response: '' }]);
});

test('[CLS6] a call is shown once, with its whole arguments, and its result with how it ended', () => {
  const { take } = setup();
  const frames = take(
    call({ tool_name: 'camera', status: 'WAIT', phase: 'streaming', partial: true }),
    call({ params: { quality: 'lo' }, partial: true }),
    call({ params: { quality: 'low' }, params_whole: true, partial: false, phase: 'approval' }),
    call({ status: 'DOING', phase: 'granted' }),
    call({ progress: { done: 1 } }),
    call({ status: 'SUCCESS', result: { taken: true } }),
    call({ late_result: true }),
  );
  expect(frames).toEqual([
    { type: 'tool_call', id: 'tc', name: 'camera', args: { quality: 'low' } },
    expect.objectContaining({ type: 'tool_call_waiting' }),
    { type: 'tool_result', id: 'tc', name: 'camera', output: '{"taken":true}', success: true },
  ]);
});

test('[CLS16] a call that waits for a person says so once, and for how long', () => {
  const { take } = setup();
  const clock = { name: 'approval', deadline_at: NOW / 1_000 + 600 } as const;
  const frames = take(
    call({ tool_name: 'door.open', params: { gate: 1 }, phase: 'approval', clock }),
    call({ tip: 'Asked' }),
    call({ clock: { ...clock, deadline_at: clock.deadline_at + 60 } }),
    call({ phase: 'queued', clock: null }),
  );
  const waiting = { type: 'tool_call_waiting', id: 'tc', name: 'door.open', for: 'approval' };
  expect(frames).toEqual([
    { type: 'tool_call', id: 'tc', name: 'door.open', args: { gate: 1 } },
    { ...waiting, remaining_ms: 600_000, message: expect.stringContaining('person') },
    { ...waiting, remaining_ms: 660_000, message: expect.stringContaining('person') },
  ]);
  expect(
    setup().take(call({ tool_name: 'ask_human', phase: 'approval', question: 'text' })),
  ).toContainEqual(expect.objectContaining({ type: 'tool_call_waiting', for: 'answer' }));
});

test('[CLS6] a call that fails says so, with its reason', () => {
  const { take } = setup();
  const error = { code: 'denied', message: 'Not allowed', executed: 'no' } as const;
  expect(take(call({ tool_name: 'camera', status: 'ERROR', error }))).toEqual([
    { type: 'tool_call', id: 'tc', name: 'camera', args: {} },
    {
      ...{ type: 'tool_result', id: 'tc', name: 'camera', output: 'Not allowed', success: false },
      error: { code: 'denied', message: 'Not allowed' },
    },
  ]);
});

test.each([
  [{ status: 'cancelled' }, { type: 'aborted' }],
  [
    { status: 'failed', error: { code: 'no_api_key', message: 'No key' } },
    { type: 'error', code: 'AUTH_ERROR', message: 'No key' },
  ],
  [
    { status: 'failed', error: { code: 'model_failed', message: 'Down' } },
    { type: 'error', code: 'PROVIDER_ERROR', message: 'Down' },
  ],
  [
    { status: 'failed', error: { code: 'internal', message: 'Defect' } },
    { type: 'error', code: 'AGENT_ERROR', message: 'Defect' },
  ],
] as const)('[CLS5] a turn that ends as %j is %j', (end, frame) => {
  expect(setup().take(run(end))).toEqual([frame]);
});

test('[CLS5] a state of a run that has no turn is no end of one', () => {
  const frames = new TurnFrames('Phone', () => NOW);
  expect(frames.take(run({ status: 'idle' }))).toEqual([]);
});

test('[CLS11] a title is sent when the app has another', () => {
  const { take } = setup();
  const titled = run({ title: 'What phone is this?' });
  expect(take(titled, titled)).toEqual([{ type: 'title_updated', title: 'What phone is this?' }]);
});

test('[CLS9] who comes back in the middle of a turn gets what was written and what is open', () => {
  const { frames, take } = setup();
  const [asked, answered] = [
    { ...written(text('Before')), role: 'user' as const },
    written(text('Let me look.'), ofCall),
  ];
  const record = { ...(run() as Extract<WatchEvent, { type: 'run' }>).run };
  const calls = [
    { tool_call_id: 'tc', run_id: 'r', card: { tool_name: 'camera', status: 'DOING' as const } },
    { tool_call_id: 'other', run_id: 'x', card: { tool_name: 'camera' } },
  ];
  const runs = [{ ...record, messages: [written(text('Old')), asked, answered] }];
  expect(frames.begin({ runs, calls }, 'r')).toEqual([
    { type: 'chunk_reset' },
    { type: 'chunk', content: 'Let me look.' },
    { type: 'tool_call', id: 'tc', name: 'camera', args: {} },
  ]);
  expect(take(call({ status: 'SUCCESS', result: 'ok' }), run({ status: 'idle' }))).toEqual([
    { type: 'tool_result', id: 'tc', name: 'camera', output: 'ok', success: true },
    { type: 'done', full_response: 'Let me look.' },
  ]);
});
