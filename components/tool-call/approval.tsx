'use client';

import { useState } from 'react';
import type { Card } from '#lib/protocol/card';
import { ApprovalPanel } from './approval-panel.tsx';
import { argumentsBytes } from './arguments-text.ts';
import type { CardActions } from './card-actions.ts';
import { shownArguments } from './shown-arguments.ts';
import { useCallRecord } from './use-call-record.ts';

export interface ApprovalProps {
  callId: string;
  card: Card;
  actions: CardActions;
}

/**
 * A person's decision on a call. It is asked anew, with nothing read yet, when
 * what is decided changes: the arguments, the client, or the question itself.
 */
export function Approval(props: ApprovalProps) {
  const { card } = props;
  const actions = { ...props.actions, decide: decideOn(props) };
  const question = JSON.stringify([card.clock, card.client_id, card.params, card.params_bytes]);
  return typeof card.params_bytes === 'number' ? (
    <FetchedApproval key={question} {...props} actions={actions} />
  ) : (
    <ApprovalPanel
      key={question}
      args={{ kind: 'known', params: shownArguments(card) }}
      bytes={argumentsBytes(shownArguments(card))}
      onDecide={(input) => actions.decide(props.callId, input)}
    />
  );
}

/** The yes is to what the card shows: the server refuses it where it has asked anew since. */
const decideOn =
  ({ card, actions }: ApprovalProps): CardActions['decide'] =>
  (callId, input) => {
    const expiresAt = card.clock?.name === 'approval' ? card.clock.deadline_at : null;
    return actions.decide(callId, {
      ...input,
      ...(expiresAt === null ? {} : { expires_at: expiresAt }),
    });
  };

/** The card has the beginning of its arguments; the decision is on all of them. */
function FetchedApproval(props: ApprovalProps) {
  const [round, setRound] = useState(0);
  return <Fetched key={round} {...props} onAgain={() => setRound(round + 1)} />;
}

function Fetched({ callId, card, actions, onAgain }: ApprovalProps & { onAgain: () => void }) {
  const record = useCallRecord(callId);
  const bytes = card.params_bytes ?? argumentsBytes(card.params);
  const args =
    record === null
      ? ({ kind: 'fetching' } as const)
      : record.ok
        ? ({ kind: 'known', params: record.value.args } as const)
        : ({ kind: 'failed', problem: record.message, onAgain } as const);
  return (
    <ApprovalPanel args={args} bytes={bytes} onDecide={(input) => actions.decide(callId, input)} />
  );
}
