import { describe, expect, test } from 'vitest';
import { fakeCall } from '../agent/testing/fakes.ts';
import { oldMessage, oldRun, principal, setupRuns } from './testing/setup-runs.ts';

describe('after a restart', () => {
  const interrupted = async () => {
    const made = setupRuns();
    await made.store.write([
      { type: 'put_run', run: oldRun({ status: 'running', step: 2 }) },
      { type: 'put_message', message: oldMessage(), position: 0 },
      {
        type: 'put_message',
        position: 1,
        message: oldMessage({
          message_id: 'msg_a',
          role: 'assistant',
          parts: [{ type: 'tool_call', tool_call_id: 'tc_told' }],
        }),
      },
    ]);
    const of = { runId: 'run_old', requestedBy: 'run:run_old', toolName: 'a.b' };
    made.calls.put(fakeCall({ ...of, id: 'tc_told', status: 'RUNNING', createdAt: 1 }));
    made.calls.put(
      fakeCall({ ...of, id: 'tc_lost', status: 'SUCCEEDED', result: 1, createdAt: 2 }),
    );
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

  test('[RU10] an open call is waited for, then the run ends as interrupted', async () => {
    const { runs, calls, ended, turns } = await interrupted();
    expect(await runs.send('run_old', { principal, input: 'x' })).toMatchObject({
      ok: false,
      code: 'conflict',
    });
    calls.settle('tc_told', { output: 'late' });
    await ended('run_old');
    const run = await runs.get('run_old');
    expect(run).toMatchObject({ status: 'failed', step: 0, error: { code: 'interrupted' } });
    expect(run?.messages.at(-1)?.parts.at(-1)).toMatchObject({
      type: 'notice',
      code: 'interrupted',
    });
    expect(turns).toEqual([]);
    expect(await runs.send('run_old', { principal, input: 'go on' })).toMatchObject({ ok: true });
  });

  test('[RU11] a call that no message names is put back, others are not', async () => {
    const { runs, calls, ended } = await interrupted();
    calls.settle('tc_told', { output: 'late' });
    await ended('run_old');
    const named = (await runs.get('run_old'))?.messages.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.type === 'tool_call' ? [part.tool_call_id] : [])),
    );
    expect(named).toEqual(['tc_told', 'tc_lost']);
  });

  test('[RU12] it can be cancelled while it waits', async () => {
    const { runs, calls } = await interrupted();
    expect(await runs.cancel('run_old')).toMatchObject({ ok: true, run: { status: 'cancelled' } });
    expect(calls.cancelled).toEqual(['tc_told']);
  });

  test('[RU10] runs that were not running stay as they are', async () => {
    const { runs, store } = setupRuns();
    await store.write([{ type: 'put_run', run: oldRun() }]);
    await runs.recover();
    expect(await runs.get('run_old')).toMatchObject({ status: 'idle', messages: [] });
  });
});
