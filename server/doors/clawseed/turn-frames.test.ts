import { expect, test } from 'vitest';
import { ofCall, scriptedRun, text, written } from '../../testing/scripted-run.ts';
import type { ServerFrame } from './chat-frames.ts';
import { TurnFrames } from './turn-frames.ts';

const NOW = 1_700_000_000_000;

function setup(before: Parameters<typeof scriptedRun>[0] = {}) {
  const frames = new TurnFrames('Phone', () => NOW);
  const script = scriptedRun<ServerFrame>(before);
  const follow = () => script.follow((event) => frames.take(event));
  return { ...script, frames, follow };
}

function running() {
  const script = setup();
  script.follow();
  script.run();
  return script;
}

test('[CLS5] each letter comes once, as a delta or with the message, and done repeats all of it', () => {
  const { message, delta, run } = running();
  const thought = { type: 'reasoning', text: 'Hm' } as const;
  const frames = [
    message([thought, text('Let ')]),
    delta(1, 'me '),
    message([thought, text('Let me look.'), ofCall]),
    message([thought, text('Let me look.'), ofCall, text('A Pixel')]),
    delta(3, '.'),
    run({ status: 'idle' }),
  ];
  expect(frames.flat()).toEqual([
    { type: 'thinking', content: 'Hm' },
    { type: 'chunk', content: 'Let ' },
    { type: 'chunk', content: 'me ' },
    { type: 'chunk', content: 'look.' },
    { type: 'chunk', content: '\n\nA Pixel' },
    { type: 'chunk', content: '.' },
    { type: 'done', full_response: 'Let me look.\n\nA Pixel.' },
  ]);
  expect([...run(), ...run({ status: 'idle' })]).toEqual([{ type: 'done', full_response: '' }]);
});

test('[CLS6] a call is shown once, with its whole arguments, and its result with how it ended', () => {
  const { call } = running();
  const frames = [
    call({ tool_name: 'camera', status: 'WAIT', phase: 'streaming', partial: true }),
    call({ params: { quality: 'lo' }, partial: true }),
    call({ params: { quality: 'low' }, params_whole: true, partial: false, phase: 'approval' }),
    call({ status: 'DOING', phase: 'granted' }),
    call({ progress: { done: 1 } }),
    call({ status: 'SUCCESS', result: { taken: true } }),
    call({ late_result: true }),
  ];
  expect(frames.flat()).toEqual([
    { type: 'tool_call', id: 'tc_1', name: 'camera', args: { quality: 'low' } },
    expect.objectContaining({ type: 'tool_call_waiting' }),
    { type: 'tool_result', id: 'tc_1', name: 'camera', output: '{"taken":true}', success: true },
  ]);
});

test('[CLS16] a call that waits for a person says so once, and for how long', () => {
  const { call } = running();
  const clock = { name: 'approval', deadline_at: NOW / 1_000 + 600 } as const;
  const frames = [
    call({ tool_name: 'door.open', params: { gate: 1 }, phase: 'approval', clock }),
    call({ tip: 'Asked' }),
    call({ clock: { ...clock, deadline_at: clock.deadline_at + 60 } }),
    call({ phase: 'queued', clock: null }),
  ];
  const waiting = { type: 'tool_call_waiting', id: 'tc_1', name: 'door.open', for: 'approval' };
  expect(frames.flat()).toEqual([
    { type: 'tool_call', id: 'tc_1', name: 'door.open', args: { gate: 1 } },
    { ...waiting, remaining_ms: 600_000, message: expect.stringContaining('person') },
    { ...waiting, remaining_ms: 660_000, message: expect.stringContaining('person') },
  ]);
  expect(
    running().call({ tool_name: 'ask_human', phase: 'approval', question: 'text' }),
  ).toContainEqual(expect.objectContaining({ type: 'tool_call_waiting', for: 'answer' }));
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
  expect(running().run(end)).toEqual([frame]);
});

test('[CLS5] a state of a run that has no turn is no end of one', () => {
  const { follow, run } = setup();
  follow();
  expect(run({ status: 'idle' })).toEqual([]);
});

test('[CLS9] who comes back in the middle of a turn gets what was written and what is open', async () => {
  const asked = written([text('Before')], { message_id: 'msg_1', role: 'user', status: 'done' });
  const messages = [
    written([text('Old')], { message_id: 'msg_0', status: 'done' }),
    asked,
    written([text('Let me look.'), ofCall]),
  ];
  const card = { tool_name: 'camera', status: 'DOING' as const };
  const calls = [{ tool_call_id: 'tc_1', run_id: 'run_1', card }];
  const { frames, stream, follow, call, run } = setup({ run: { messages }, calls });
  const now = await stream.catchUp(new AbortController().signal);
  expect(frames.begin(now.run, now.calls, stream)).toEqual([
    { type: 'chunk_reset' },
    { type: 'chunk', content: 'Let me look.' },
    { type: 'tool_call', id: 'tc_1', name: 'camera', args: {} },
  ]);
  follow();
  expect([...call({ status: 'SUCCESS', result: 'ok' }), ...run({ status: 'idle' })]).toEqual([
    { type: 'tool_result', id: 'tc_1', name: 'camera', output: 'ok', success: true },
    { type: 'done', full_response: 'Let me look.' },
  ]);
});
