// @vitest-environment happy-dom
import { act, fireEvent, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import type { CardUpdate } from '#lib/protocol/card';
import { ConnectedCard } from './connected-card.tsx';
import { createTestWorkbench, renderIn } from './testing/in-workbench.tsx';
import { useCardActions } from './use-card-actions.tsx';
import { useCardKeys } from './use-card-keys.ts';

const move = vi.fn();

function Card() {
  const { actions } = useCardActions();
  useCardKeys({ move, actions });
  return <ConnectedCard callId="tc_1" isStale={false} actions={actions} />;
}

function setup(update: CardUpdate) {
  move.mockClear();
  const { workbench, sent } = createTestWorkbench();
  let seq = 0;
  const change = (more: CardUpdate) => {
    seq += 1;
    act(() =>
      workbench.calls
        .getState()
        .apply([{ type: 'call', seq, tool_call_id: 'tc_1', run_id: 'run_1', update: more }]),
    );
  };
  change({ tool_name: 'bank.pay', source: 'client', params: { to: 'Ada' }, ...update });
  renderIn(workbench, <Card />);
  return { change, sent, workbench };
}

const card = () => screen.getByTestId('tool-card');
const press = (key: string, more = {}) =>
  act(async () => void fireEvent.keyDown(card(), { key, ...more }));

test('[CD37] x cancels when it is pressed again, and a held one is one press', async () => {
  const { sent, workbench } = setup({ status: 'DOING', phase: 'granted' });
  await press('x');
  await press('x', { repeat: true });
  expect(sent).toEqual([]);
  expect(screen.getByRole('button', { name: 'Press x again to cancel' })).toBeTruthy();
  expect(workbench.ui.getState().announcement.text).toBe('Press x again to cancel');
  await press('x');
  expect(sent.map(({ path }) => path)).toEqual(['/v1/tool_calls/tc_1/cancel']);
});

test('[CD37] x that is pressed again after 2 s is a first press', async () => {
  vi.useFakeTimers();
  const { sent } = setup({ status: 'DOING', phase: 'granted' });
  await press('x');
  act(() => void vi.advanceTimersByTime(2_001));
  expect(screen.getByRole('button', { name: 'Cancel' })).toBeTruthy();
  await press('x');
  expect(sent).toEqual([]);
});

test('[AP12] keys are off while a text that was not sent is shown, and for a second after it', async () => {
  vi.useFakeTimers();
  const { change } = setup({ status: 'WAIT', phase: 'approval' });
  fireEvent.click(screen.getByRole('button', { name: 'Deny with a reason…' }));
  fireEvent.change(screen.getByRole('textbox'), { target: { value: 'it is' } });
  change({ status: 'DOING', phase: 'granted', approval_decision: { by: 'otto', decision: 'yes' } });
  vi.advanceTimersByTime(1_001);
  await press('j');
  expect(move).not.toHaveBeenCalled();
  fireEvent.keyDown(screen.getByRole('textbox'), { key: 'Escape' });
  expect(screen.queryByTestId('kept-text')).toBeNull();
  await press('j');
  expect(move).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1_001);
  await press('j');
  expect(move).toHaveBeenCalledOnce();
});
