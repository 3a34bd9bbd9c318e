// @vitest-environment happy-dom
import { beforeEach, expect, test, vi } from 'vitest';
import type { AutonomyLevel } from '#lib/policy/autonomy';
import { type Answer, createTestWorkbench } from '../tool-call/testing/in-workbench.tsx';
import { keepAutonomy } from './keep-autonomy.ts';

beforeEach(() => void vi.useFakeTimers());
const at = (level: AutonomyLevel): Answer => ({ body: { autonomy: { level, runs: [] } } });

/** A connected page whose server gives these answers, one after another. */
function setup(...answers: (Answer | Promise<Answer>)[]) {
  const { workbench, sent } = createTestWorkbench(() => answers[sent.length - 1] ?? { body: {} });
  const stop = keepAutonomy(workbench);
  const { autonomy, connection } = workbench;
  connection.setState({ feed: { kind: 'connected' } });
  return { autonomy, stop, sent, level: () => autonomy.getState().autonomy?.level };
}

const toFull = { type: 'autonomy', seq: 1, of_run: null, level: 'full', set_at: 1 } as const;

test('[AN1] the autonomy is asked for at the connection, and what is switched then comes as an event', async () => {
  const { autonomy, sent, level } = setup(at('supervised'));
  await vi.waitFor(() => expect(level()).toBe('supervised'));
  autonomy.getState().apply([toFull]);
  await vi.advanceTimersByTimeAsync(600_000);
  expect([level(), sent.length]).toEqual(['full', 1]);
});

test('[AN1] an answer from before a switch is asked for again', async () => {
  const first = Promise.withResolvers<Answer>();
  const { autonomy, sent, level } = setup(first.promise, at('full'));
  autonomy.getState().apply([toFull]);
  first.resolve(at('supervised'));
  await vi.waitFor(() => expect(level()).toBe('full'));
  expect(sent).toHaveLength(2);
});

test('[AN1] it is asked for again after a snapshot, and after a failure', async () => {
  const { autonomy, stop, sent, level } = setup(
    { status: 500, body: {} },
    at('supervised'),
    at('full'),
  );
  await vi.advanceTimersByTimeAsync(2_000);
  await vi.waitFor(() => expect(level()).toBe('supervised'));
  autonomy.getState().replace();
  await vi.waitFor(() => expect(level()).toBe('full'));
  stop();
  autonomy.getState().replace();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(sent).toHaveLength(3);
});
