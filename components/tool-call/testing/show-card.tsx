import { act } from '@testing-library/react';
import type { ReactNode } from 'react';
import type { CardUpdate } from '#lib/protocol/card';
import { ConnectedCard } from '../connected-card.tsx';
import { useCardActions } from '../use-card-actions.tsx';
import { type Answer, createTestWorkbench, renderIn, type SentRequest } from './in-workbench.tsx';

export interface ShowOptions {
  readonly answer?: (request: SentRequest) => Answer | Promise<Answer>;
  readonly locale?: 'en' | 'zh';
  readonly id?: string;
  readonly beside?: ReactNode;
}

export function ShownCard({ id }: { id: string }) {
  const { actions, dialog } = useCardActions();
  return (
    <>
      <ConnectedCard callId={id} isStale={false} actions={actions} />
      {dialog}
    </>
  );
}

/** The card of a call, as a page shows it. `change` publishes more of that call, or of another one. */
export function showCard(
  update: CardUpdate,
  { answer, locale = 'en', id = 'tc_1', beside }: ShowOptions = {},
) {
  const { workbench, sent } = createTestWorkbench(answer);
  let seq = 0;
  const change = (more: CardUpdate, callId = id) => {
    seq += 1;
    const call = { tool_call_id: callId, run_id: 'run_1', update: more };
    act(() => workbench.calls.getState().apply([{ type: 'call', seq, ...call }]));
  };
  change(update);
  const show = () =>
    renderIn(
      workbench,
      <>
        <ShownCard id={id} />
        {beside}
      </>,
      locale,
    );
  show();
  return { workbench, sent, change, show };
}
