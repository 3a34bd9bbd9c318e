import { expect, test, vi } from 'vitest';
import type { Message } from '#lib/protocol/run';
import { fakeCall } from './agent/testing/fakes.ts';
import { RESTARTED } from './recover-turn.ts';
import { oldMessage, oldRun, setupRuns } from './testing/setup-runs.ts';

const of = { runId: 'run_old', requestedBy: 'run:run_old', toolName: 'a.b' };
const input = (message_id: string, parts: Message['parts']) =>
  oldMessage({ message_id, role: 'assistant', parts });
const calling = (...ids: string[]) =>
  input(
    `msg_${ids[0]}`,
    ids.map((tool_call_id) => ({ type: 'tool_call', tool_call_id })),
  );
const notice = (code: string) => input(`msg_${code}`, [{ type: 'notice', code, text: 'Told so' }]);
let ups = 0;
const takenUp = () =>
  input(`msg_up_${++ups}`, [{ type: 'notice', code: RESTARTED, text: 'Goes on' }]);

/** A server that starts on a run which the one before left running. */
async function startedOn(
  messages: readonly Message[],
  { run = {}, ...given }: Parameters<typeof setupRuns>[0] & { run?: object } = {},
) {
  const made = setupRuns(given);
  await made.store.write([
    { type: 'put_run', run: oldRun({ status: 'running', step: 2, ...run }) },
    ...[oldMessage(), ...messages].map((message, position) => ({
      type: 'put_message' as const,
      message,
      position,
    })),
  ]);
  return made;
}

const interrupted = async () => {
  const made = await startedOn([calling('tc_told')]);
  made.calls.put(fakeCall({ ...of, id: 'tc_told', status: 'RUNNING', createdAt: 1 }));
  made.calls.put(fakeCall({ ...of, id: 'tc_lost', status: 'SUCCEEDED', result: 1, createdAt: 2 }));
  made.calls.put(
    fakeCall({ ...of, id: 'tc_retry', status: 'SUCCEEDED', createdAt: 3, retryOf: 'tc_lost' }),
  );
  made.calls.put(
    fakeCall({
      ...of,
      id: 'tc_other',
      status: 'SUCCEEDED',
      createdAt: 4,
      requestedBy: 'operator',
    }),
  );
  await made.runs.recover();
  return made;
};

const untilAsked = async ({ turns, clock, bus }: Awaited<ReturnType<typeof interrupted>>) => {
  await bus.until((event) => event.type === 'message' && event.message.parts.length > 0);
  await expect
    .poll(() => {
      clock.advance(3_000);
      return turns.length;
    })
    .toBe(1);
};

test('[RU10] an open call is waited for, then the model is asked again', async () => {
  const made = await interrupted();
  const { runs, calls, ended, turns, clock } = made;
  clock.advance(60_000);
  expect(turns).toEqual([]);
  calls.settle('tc_told', { output: 'late' });
  const over = ended('run_old');
  await untilAsked(made);
  await over;
  expect(turns[0]).toMatchObject({ stepsDone: 2, model: { ref: 'rehearsal' }, tools: null });
  const run = await runs.get('run_old');
  expect(run).toMatchObject({ status: 'idle', step: 0, error: null });
  expect(run?.messages.at(-1)).toMatchObject({ status: 'done' });
  expect(run?.messages.at(-1)?.parts.at(-1)).toMatchObject({ type: 'notice', code: RESTARTED });
});

test('[RU10] while an open call is waited for, people read that the turn goes on', async () => {
  const { runs, calls, turns } = await startedOn([calling('tc_told')]);
  calls.put(fakeCall({ ...of, id: 'tc_told', status: 'RUNNING', createdAt: 1 }));
  await runs.recover();
  const last = async () => (await runs.get('run_old'))?.messages.at(-1);
  const goesOn = [{ type: 'notice', code: RESTARTED }];
  await expect.poll(last).toMatchObject({ status: 'streaming', parts: goesOn });
  expect(turns).toEqual([]);
});

test('[RU10] the client in which the person asked is waited for longer, but not for ever', async () => {
  const asked = oldMessage({ message_id: 'msg_asked', client_id: 'tab' });
  for (const [waits, comesBackAfter] of [
    [1, 0],
    [3, 2],
    [5, Infinity],
  ] as const) {
    const { runs, clock, offering, turns } = await startedOn([asked]);
    const timers = vi.spyOn(clock, 'schedule');
    await runs.recover();
    let waited = 0;
    await expect
      .poll(() => {
        if (waited >= comesBackAfter) offering.add('tab');
        if (turns.length > 0) return waited;
        if (timers.mock.calls.length > waited) {
          waited += 1;
          clock.advance(3_000);
        }
        return undefined;
      })
      .toBe(waits);
  }
});

test('[RU10] the notice is on disk before the model is asked', async () => {
  const made = await interrupted();
  made.calls.settle('tc_told', { output: 'late' });
  await untilAsked(made);
  const written = (await made.store.listMessages({ runId: 'run_old', maxChars: 1e6 })).messages;
  expect(written.at(-1)?.parts.at(-1)).toMatchObject({ code: RESTARTED });
});

test.each([
  ['an answer', input('msg_a', [{ type: 'text', text: 'Done' }]), { status: 'idle' }],
  ['a limit', notice('budget_calls'), { status: 'idle' }],
  ['the limit of steps', notice('step_limit'), { status: 'idle' }],
  ['a stop', notice('cancelled'), { status: 'cancelled' }],
  [
    'an answer with a notice beside it',
    input('msg_a', [
      { type: 'text', text: 'Done' },
      { type: 'notice', code: 'tools_left_out', text: 'x' },
    ]),
    { status: 'idle' },
  ],
  ['a failure', notice('model_quota'), { status: 'failed', error: { code: 'model_quota' } }],
])('[RU10] a turn that had ended with %s just ends', async (_name, last, end) => {
  const { runs, ended, turns } = await startedOn([last]);
  const over = ended('run_old');
  await runs.recover();
  await over;
  expect(await runs.get('run_old')).toMatchObject(end);
  expect((await runs.get('run_old'))?.messages).toHaveLength(2);
  expect(turns).toEqual([]);
});

test('[RU10] a notice beside the calls of a step does not end the turn', async () => {
  const step = calling('tc_1');
  const left = { type: 'notice' as const, code: 'tools_left_out', text: 'x' };
  const { runs, clock, ended, turns } = await startedOn([
    { ...step, parts: [...step.parts, left] },
  ]);
  const over = ended('run_old');
  await runs.recover();
  await expect
    .poll(() => {
      clock.advance(3_000);
      return turns.length;
    })
    .toBe(1);
  await over;
  expect(turns[0]).toMatchObject({ stepsDone: 1 });
});

test('[RU11] a call that no message names is put back, others are not', async () => {
  const made = await interrupted();
  made.calls.settle('tc_told', { output: 'late' });
  await untilAsked(made);
  const named = (await made.runs.get('run_old'))?.messages.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === 'tool_call' ? [part.tool_call_id] : [])),
  );
  expect(named).toEqual(['tc_told', 'tc_lost']);
});

test('[RU12] it can be cancelled while it waits', async () => {
  const { runs, calls } = await interrupted();
  expect(await runs.cancel('run_old')).toMatchObject({ ok: true, run: { status: 'cancelled' } });
  expect(calls.cancelled).toEqual(['tc_told']);
});

test('[RU13] stopped while it waits, it is left as it was found', async () => {
  const { runs, store, calls } = await interrupted();
  const before = [
    await store.getRun('run_old'),
    (await store.listMessages({ runId: 'run_old', maxChars: 1e6 })).messages,
  ];
  await runs.close();
  expect([
    await store.getRun('run_old'),
    (await store.listMessages({ runId: 'run_old', maxChars: 1e6 })).messages,
  ]).toEqual(before);
  expect(calls.cancelled).toEqual([]);
});

test.each([
  [[calling('tc_1'), takenUp(), takenUp()], 'idle'],
  [[takenUp(), takenUp(), takenUp(), calling('tc_1')], 'idle'],
  [[calling('tc_1'), takenUp(), takenUp(), takenUp()], 'failed'],
] as const)('[RU16] a step is tried three times more, no more: %#', async (before, status) => {
  const { runs, clock, ended, turns, bus } = await startedOn(before);
  const over = ended('run_old');
  await runs.recover();
  if (status === 'idle') {
    await expect
      .poll(() => {
        clock.advance(3_000);
        return bus.events.filter(({ type }) => type === 'run').length;
      })
      .toBeGreaterThan(0);
  }
  await over;
  expect(turns).toHaveLength(status === 'idle' ? 1 : 0);
  const run = await runs.get('run_old');
  expect(run?.status).toBe(status);
  if (status === 'failed') expect(run?.error).toMatchObject({ code: 'interrupted' });
});

test('[RU17] a model that is not there any more ends the turn, and the person is told', async () => {
  const { runs, clock, ended, bus } = await startedOn([], { run: { model: 'openai:gpt-5' } });
  const over = ended('run_old');
  await runs.recover();
  await expect
    .poll(() => {
      clock.advance(3_000);
      return bus.events.at(-1)?.type;
    })
    .toBe('run');
  await over;
  const run = await runs.get('run_old');
  expect(run).toMatchObject({ status: 'failed', error: { code: 'model_not_found' } });
  expect(run?.messages.at(-1)?.parts).toMatchObject([{ type: 'notice', code: 'model_not_found' }]);
});

test('[RU10] runs that were not running stay as they are', async () => {
  const { runs, store } = setupRuns();
  await store.write([{ type: 'put_run', run: oldRun() }]);
  await runs.recover();
  expect(await runs.get('run_old')).toMatchObject({ status: 'idle', messages: [] });
});
