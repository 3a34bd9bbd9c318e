// @vitest-environment happy-dom
import { act, renderHook } from '@testing-library/react';
import { expect, test } from 'vitest';
import { createTestWorkbench, InWorkbench } from './testing/in-workbench.tsx';
import { useFeed } from './use-feed.ts';

test('[AP14] the list takes no new calls while the pointer or the focus is over a decision, and counts them', () => {
  const { workbench } = createTestWorkbench();
  let seq = 0;
  const come = (id: string) => {
    seq += 1;
    const update = { tool_name: 'gate.open', status: 'WAIT', created_at: seq } as const;
    act(() =>
      workbench.calls
        .getState()
        .apply([{ type: 'call', seq, tool_call_id: id, run_id: 'run_1', update }]),
    );
  };
  come('tc_1');
  const { result } = renderHook(() => useFeed(undefined), {
    wrapper: ({ children }) => <InWorkbench workbench={workbench}>{children}</InWorkbench>,
  });
  act(() => result.current.setOver(true));
  come('tc_2');
  expect(result.current.ids).toEqual(['tc_1']);
  expect(result.current.fresh).toBe(1);
  act(() => result.current.setOver(false));
  expect(result.current.ids).toEqual(['tc_2', 'tc_1']);
  expect(result.current.fresh).toBe(0);
});
