// @vitest-environment happy-dom
import { beforeEach, expect, test, vi } from 'vitest';
import {
  type Answer,
  createTestWorkbench,
  personWith,
} from '../tool-call/testing/in-workbench.tsx';
import { keepMe } from './keep-me.ts';

beforeEach(() => void vi.useFakeTimers());
const VIEWER: Answer = { body: personWith('viewer') };

/** A page whose server gives these answers, one after another, and then the last one again. */
function setup(...answers: (Answer | Promise<Answer>)[]) {
  const { workbench, sent } = createTestWorkbench(() => answers[sent.length - 1] ?? VIEWER);
  workbench.me.setState({ me: null });
  const stop = keepMe(workbench);
  const role = () => workbench.me.getState().me?.role;
  return { workbench, stop, role, paths: () => sent.map(({ path }) => path) };
}

test('who is signed in is asked at once, and again at each connection', async () => {
  const { workbench, role, paths } = setup(VIEWER, { body: personWith('admin') });
  await vi.waitFor(() => expect(role()).toBe('viewer'));
  workbench.connection.setState({ feed: { kind: 'connected' } });
  await vi.waitFor(() => expect(role()).toBe('admin'));
  workbench.connection.setState({ signingOut: true });
  expect(paths()).toEqual(['/v1/me', '/v1/me']);
});

test('it is asked again when another tab has signed in', async () => {
  const { role } = setup(VIEWER, { body: personWith('admin') });
  await vi.waitFor(() => expect(role()).toBe('viewer'));
  window.dispatchEvent(new StorageEvent('storage', { key: 'callboard:session' }));
  await vi.waitFor(() => expect(role()).toBe('admin'));
});

test('of two sign-ins the later one counts, however late the first answer comes', async () => {
  const first = Promise.withResolvers<Answer>();
  const { role } = setup(first.promise, { body: personWith('operator') });
  window.dispatchEvent(new StorageEvent('storage', { key: 'callboard:session' }));
  await vi.waitFor(() => expect(role()).toBe('operator'));
  first.resolve(VIEWER);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(role()).toBe('operator');
});

test('a failure is tried again, but for a sign-in that has ended', async () => {
  const { role } = setup({ status: 500, body: {} }, VIEWER);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(role()).toBe('viewer');
  const ended = setup({ status: 401, body: {} });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(ended.paths()).toEqual(['/v1/me']);
});

test('a page that is left asks no more', async () => {
  const { stop, paths } = setup({ status: 500, body: {} });
  await vi.advanceTimersByTimeAsync(0);
  stop();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(paths()).toEqual(['/v1/me']);
});
