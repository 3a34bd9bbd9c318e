import { describe, expect, test } from 'vitest';
import { echo, gate, hanging, MODELS, setupTurns } from './testing/setup-turns.ts';

describe.each(MODELS)('over %s', (model) => {
  test('[AL6] a turn is stopped while the model hangs before its first word', async () => {
    const never = gate();
    const asked = gate();
    const script = () => {
      asked.resolve();
      return { text: 'late', stall: { at: 0, until: never.promise } };
    };
    const { start, runs } = await setupTurns({ model, script });
    const runId = await start('go');
    await asked.promise;
    const outcome = await runs.cancel(runId);
    expect(outcome).toMatchObject({ ok: true, run: { status: 'cancelled' } });
  });

  test('[AL6] a turn is stopped while arguments are written: the draft is cancelled', async () => {
    const never = gate();
    const script = () => ({
      calls: [{ name: 'demo_echo', args: { text: 'abcdef' } }],
      stall: { at: 5, until: never.promise },
    });
    const { start, runs, bus, calls } = await setupTurns({ model, script, tools: [echo] });
    const runId = await start('go');
    await bus.until(
      (e) => e.type === 'message' && e.message.parts.some((part) => part.type === 'tool_call'),
    );
    await runs.cancel(runId);
    expect(calls.records.get('tc_1')).toMatchObject({
      status: 'FAILED',
      error: { code: 'cancelled' },
    });
  });

  test('[AL6] a turn is stopped while a tool hangs: the call is cancelled', async () => {
    const started = gate();
    const script = () => ({ calls: [{ name: 'demo_hang', args: { a: 1 } }] });
    const { start, runs, calls } = await setupTurns({
      model,
      script,
      tools: [hanging(started.resolve)],
    });
    const runId = await start('go');
    await started.promise;
    const outcome = await runs.cancel(runId);
    expect(outcome).toMatchObject({ ok: true, run: { status: 'cancelled' } });
    expect(calls.cancelled).toEqual(['tc_1']);
  });
});
