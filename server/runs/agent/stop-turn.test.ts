import { describe, expect, test } from 'vitest';
import { systemClock } from './testing/fakes.ts';
import { echo, gate, MODELS, partsOf, setupTurns, texts } from './testing/setup-turns.ts';

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

  test('[AL6] T152: a turn is stopped while arguments are written: the draft is cancelled', async () => {
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
    await runs.cancel(runId, 'operator:olga');
    expect(calls.records.get('tc_1')).toMatchObject({
      status: 'FAILED',
      error: { code: 'cancelled' },
      card: { cancelled_by: 'operator:olga' },
    });
    const run = await runs.get(runId);
    expect(run && partsOf(run).at(-1)).toMatchObject({
      code: 'cancelled',
      params: { by: 'operator:olga' },
    });
  });
});

const forever = () => new Promise<never>(() => undefined);

test('[AL6] a turn is stopped while the answer is streamed: what came of it stays', async () => {
  const script = () => ({
    text: 'Half an answer',
    pieceChars: 5,
    stall: { at: 1, until: forever() },
  });
  const { start, runs, bus } = await setupTurns({ script });
  const runId = await start('go');
  await bus.until((event) => event.type === 'message' && texts(event.message.parts)[0] === 'Half ');
  const outcome = await runs.cancel(runId);
  expect(outcome).toMatchObject({ ok: true, run: { status: 'cancelled' } });
  if (outcome.ok) expect(texts(partsOf(outcome.run))).toEqual(['go', 'Half ']);
});

test('[AL6] a turn is stopped in the pause before a request is made again', async () => {
  const paused = gate();
  const clock = {
    ...systemClock,
    /** The pauses before retries never end; they are the only waits below a second. */
    schedule(ms: number, work: () => void) {
      if (ms >= 1_000) return systemClock.schedule(ms, work);
      paused.resolve();
      return () => undefined;
    },
  };
  const { start, runs, openai } = await setupTurns({
    script: () => ({ status: 503 }),
    agent: { clock, maxRetries: 2 },
  });
  const runId = await start('go');
  await paused.promise;
  expect(await runs.cancel(runId)).toMatchObject({ run: { status: 'cancelled' } });
  expect(openai.requests).toHaveLength(1);
});

test('[AL6] a turn is stopped between two steps, while the next request is prepared', async () => {
  const preparing = gate();
  const shot = { blob_id: 'blob_1', media_type: 'image/png', size: 1 };
  const { start, runs, openai } = await setupTurns({
    model: 'openai:gpt-4o',
    script: () => ({ calls: [{ name: 'demo_shot', args: { a: 1 } }] }),
    tools: [{ name: 'demo.shot', run: () => ({ output: 'a picture', attachments: [shot] }) }],
    agent: {
      images: {
        readBlob: () => {
          preparing.resolve();
          return forever();
        },
        scaleForModel: forever,
      },
    },
  });
  const runId = await start('go');
  await preparing.promise;
  expect(await runs.cancel(runId)).toMatchObject({ run: { status: 'cancelled' } });
  expect(openai.requests).toHaveLength(1);
});

test('[AL6] a turn is stopped while the server of models is asked which it has', async () => {
  const asked = gate();
  const { start, runs } = await setupTurns({
    model: 'compatible',
    script: () => ({}),
    models: {
      defaultModel: undefined,
      fetch: () => {
        asked.resolve();
        return forever();
      },
    },
  });
  const runId = await start('go');
  await asked.promise;
  expect(await runs.cancel(runId)).toMatchObject({ run: { status: 'cancelled' } });
});
