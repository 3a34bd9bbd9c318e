import { expect, test } from 'vitest';
import { createConnectionStore, keepStoreFailed } from './connection-store.ts';

type Readiness = { ok: true } | { ok: false; code: string };

function setup() {
  const connection = createConnectionStore();
  const answers: ((answer: Readiness) => void)[] = [];
  const stop = keepStoreFailed({
    connection,
    isReady: () => new Promise((resolve) => answers.push(resolve)),
  });
  const lose = (attempt: number) =>
    connection.setState({ feed: { kind: 'reconnecting', attempt, retryAt: 0 } });
  const answer = async (index: number, published: Readiness) => {
    answers[index]?.(published);
    await Promise.resolve();
    await Promise.resolve();
  };
  return {
    connection,
    answers,
    stop,
    lose,
    answer,
    failed: () => connection.getState().storeFailed,
  };
}

const FAILED: Readiness = { ok: false, code: 'store_failed' };

test('[SW15] each failed attempt asks once, and nothing else does', async () => {
  const { connection, answers, lose, answer } = setup();
  expect(answers).toHaveLength(0);
  lose(1);
  await answer(0, FAILED);
  connection.setState({ caughtUp: { events: 1, at: 1 } });
  expect(answers).toHaveLength(1);
  lose(2);
  expect(answers).toHaveLength(2);
  connection.setState({ feed: { kind: 'connected' } });
  expect(answers).toHaveLength(2);
});

test('[SW15] the store has failed while the server says so, and no longer', async () => {
  const { connection, lose, answer, failed } = setup();
  lose(1);
  await answer(0, FAILED);
  expect(failed()).toBe(true);
  lose(2);
  expect(failed()).toBe(true);
  await answer(1, { ok: false, code: 'unreachable' });
  expect(failed()).toBe(false);
  lose(3);
  await answer(2, FAILED);
  connection.setState({ feed: { kind: 'connected' } });
  expect(failed()).toBe(false);
});

test('[SW15] an answer that comes after the connection is back, or after a newer question, is old', async () => {
  const { connection, lose, answer, failed, stop } = setup();
  lose(1);
  connection.setState({ feed: { kind: 'connected' } });
  await answer(0, FAILED);
  expect(failed()).toBe(false);
  lose(1);
  lose(2);
  await answer(2, { ok: true });
  await answer(1, FAILED);
  expect(failed()).toBe(false);
  lose(3);
  stop();
  await answer(3, FAILED);
  expect(failed()).toBe(false);
});
