// @vitest-environment happy-dom
import { act, renderHook } from '@testing-library/react';
import type { ReactNode } from 'react';
import { afterEach, expect, test } from 'vitest';
import { run } from '#lib/stores/testing/fixtures';
import {
  type Answer,
  createTestWorkbench,
  InWorkbench,
} from '../tool-call/testing/in-workbench.tsx';
import { useSelectedRun } from './use-selected-run.ts';
import { useSend } from './use-send.ts';

afterEach(() => history.replaceState(null, '', '/'));

/** A new conversation, and a server that answers when the test says so. */
function setup() {
  const answer = Promise.withResolvers<Answer>();
  const { workbench, sent } = createTestWorkbench(() => answer.promise);
  const wrapper = ({ children }: { children: ReactNode }) => (
    <InWorkbench workbench={workbench}>{children}</InWorkbench>
  );
  const { result } = renderHook(() => ({ ...useSend(), run: useSelectedRun() }), { wrapper });
  return {
    sent,
    result,
    answer: (body: unknown) => act(async () => answer.resolve({ body })),
    select: (runId: string) => act(async () => result.current.run[1](runId)),
    send: (text: string) => act(async () => void result.current.send(text)),
    shown: () => result.current.run[0],
  };
}

test('the conversation that a message begins is shown once the server has it', async () => {
  const { result, answer, send, shown } = setup();
  await send('Where am I?');
  expect(result.current.pending).toBe(true);
  expect(shown()).toBeNull();
  await answer({ ...run('run_9'), messages: [] });
  expect(shown()).toBe('run_9');
  expect(result.current.pending).toBe(false);
});

test('a person who has gone to another conversation meanwhile stays there', async () => {
  const { answer, send, select, shown } = setup();
  await send('Where am I?');
  await select('run_2');
  await answer({ ...run('run_9'), messages: [] });
  expect(shown()).toBe('run_2');
});

test('a second press while a message is on its way sends nothing', async () => {
  const { sent, answer, send } = setup();
  await send('Where am I?');
  await send('Where am I?');
  await answer({ ...run('run_9'), messages: [] });
  expect(sent).toHaveLength(1);
});

test('that the server could not be reached is not shown any more once it is back', async () => {
  const { workbench } = createTestWorkbench(() => Promise.reject(new Error('no network')));
  const wrapper = ({ children }: { children: ReactNode }) => (
    <InWorkbench workbench={workbench}>{children}</InWorkbench>
  );
  const feed = (kind: 'connected' | 'offline') =>
    act(async () =>
      workbench.connection.setState({
        feed: kind === 'connected' ? { kind } : { kind: 'reconnecting', attempt: 1, retryAt: 0 },
      }),
    );
  await feed('offline');
  const { result } = renderHook(() => useSend(), { wrapper });
  await act(async () => void result.current.send('Where am I?'));
  expect(result.current.failure).toMatchObject({ code: 'unreachable' });
  await feed('connected');
  expect(result.current.failure).toBeNull();
});
