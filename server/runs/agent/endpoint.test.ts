import { describe, expect, test } from 'vitest';
import { createManualClock } from '#lib/client/testing/manual-clock';
import { FIRST_OPERATOR } from '../../auth/principal.ts';
import { notices, partsOf, setupTurns, texts } from './testing/setup-turns.ts';

/** `OPENAI_BASE_URL` is all that is set, and no server is there. */
const downAtTheStart = async (more: Partial<Parameters<typeof setupTurns>[0]> = {}) => {
  const made = await setupTurns({
    script: () => ({ text: 'From the real one.' }),
    listed: ['qwen3:8b', 'llava:7b'],
    isDown: true,
    models: { defaultModel: undefined, openaiApiKey: undefined },
    ...more,
  });
  expect(await made.models.discover()).toMatchObject({ ok: false });
  return made;
};

describe('an OPENAI_BASE_URL that does not answer at the start', () => {
  test('[AL68] a run fails and says so; the rehearsal does not take its place', async () => {
    const { turn, openai, models } = await downAtTheStart();
    const run = await turn('What is 2+3*4?');
    expect(run).toMatchObject({ status: 'failed', error: { code: 'endpoint_silent' } });
    expect(run.error?.message).toContain(openai.url);
    expect(run.error?.message).toContain('OPENAI_BASE_URL');
    expect(run.error?.params).toMatchObject({ url: openai.url });
    expect(notices(partsOf(run))).toEqual(['endpoint_silent']);
    expect(texts(partsOf(run))).toEqual(['What is 2+3*4?']);
    expect(models.list()).toMatchObject([
      { model: 'compatible', default: true, available: false, rehearsal: false },
      { model: 'rehearsal', default: false },
    ]);
  });

  test('[AL67] it is asked again when a run starts, and the run uses its first model', async () => {
    const { runs, start, ended, turn, bus, openai, models } = await downAtTheStart();
    const failed = await turn('Hello');
    openai.setDown(false);
    const more = { principal: FIRST_OPERATOR, input: 'Again' };
    const outcome = await runs.send(failed.run_id, more);
    expect(outcome.ok).toBe(true);
    await bus.until((event) => event.type === 'run' && event.run.status === 'idle');
    const run = await runs.get(failed.run_id);
    expect(run).toMatchObject({ status: 'idle', model: 'compatible:qwen3:8b', error: null });
    expect(texts(partsOf(run ?? failed)).at(-1)).toBe('From the real one.');
    expect(openai.requests.map(({ body }) => body.model)).toEqual(['qwen3:8b']);
    expect(models.list().map(({ model }) => model)).toEqual([
      'compatible:qwen3:8b',
      'compatible:llava:7b',
      'rehearsal',
    ]);
    expect((await ended(await start('And a new one'))).model).toBe('compatible:qwen3:8b');
    expect(openai.timesListed).toBe(1);
  });

  test('[AL67] it is asked again when the models are listed', async () => {
    const { runs, openai } = await downAtTheStart();
    expect((await runs.models()).map(({ model }) => model)).toEqual(['compatible', 'rehearsal']);
    openai.setDown(false);
    expect((await runs.models()).map(({ model }) => model)).toContain('compatible:llava:7b');
    await runs.models();
    expect(openai.timesListed).toBe(1);
  });

  test('[AL67] it is asked again in the background, after growing pauses', async () => {
    const waits: number[] = [];
    const clock = createManualClock();
    const { models, openai } = await downAtTheStart({
      models: {
        defaultModel: undefined,
        clock: {
          now: clock.now,
          schedule(ms, fire) {
            waits.push(ms);
            return clock.schedule(ms, fire);
          },
        },
      },
    });
    const answered = Promise.withResolvers<string>();
    const stop = models.keepAsking(answered.resolve);
    for (const times of [2, 4, 6]) {
      await expect.poll(() => waits.length, { timeout: 15_000 }).toBe(times);
      clock.advance(waits.at(-1) ?? 0);
    }
    await expect.poll(() => waits.length, { timeout: 15_000 }).toBe(8);
    // Two seconds bound each question; between them are the pauses.
    expect(waits).toEqual([2_000, 1_000, 2_000, 2_000, 2_000, 4_000, 2_000, 8_000]);
    openai.setDown(false);
    clock.advance(8_000);
    expect(await answered.promise).toBe('compatible:qwen3:8b');
    expect(models.defaultModel).toBe('compatible:qwen3:8b');
    stop();
  });

  test('[AL67] one that has answered is not asked in the background', async () => {
    const models = { defaultModel: undefined };
    const made = await setupTurns({ script: () => ({}), listed: ['qwen3:8b'], models });
    await made.models.discover();
    const answers: string[] = [];
    made.models.keepAsking((model) => answers.push(model))();
    expect(answers).toEqual([]);
    expect(made.openai.timesListed).toBe(1);
  });

  test('[AL67] nothing is asked any more once that is stopped', async () => {
    const clock = createManualClock();
    const { models, openai } = await downAtTheStart({ models: { defaultModel: undefined, clock } });
    models.keepAsking(() => undefined)();
    openai.setDown(false);
    clock.advance(60_000);
    expect(models.defaultModel).toBe('compatible');
    expect(openai.timesListed).toBe(0);
  });

  test('[AL68] one that answers without a model does not bring the rehearsal either', async () => {
    const models = { defaultModel: undefined };
    const { turn } = await setupTurns({ script: () => ({}), listed: [], models });
    expect(await turn('Hello')).toMatchObject({
      status: 'failed',
      error: { code: 'endpoint_empty' },
    });
  });

  test('[AL68] the rehearsal answers when it is named', async () => {
    const { runs, ended } = await downAtTheStart();
    const principal = FIRST_OPERATOR;
    const outcome = await runs.start({ principal, input: '(2+3)*4', model: 'rehearsal' });
    if (!outcome.ok) throw new Error(outcome.message);
    expect(await ended(outcome.run.run_id)).toMatchObject({ status: 'idle', model: 'rehearsal' });
  });

  test('[AL68] a run is stopped while it waits for the answer', async () => {
    const { runs, start } = await setupTurns({
      script: () => ({}),
      models: { defaultModel: undefined, fetch: () => new Promise(() => undefined) },
    });
    const runId = await start('Hello');
    expect(await runs.cancel(runId)).toMatchObject({
      ok: true,
      run: { status: 'cancelled', messages: [{}, { parts: [{ code: 'cancelled' }] }] },
    });
  });
});
