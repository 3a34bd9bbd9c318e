'use client';

import { useState } from 'react';
import type { Card } from '#lib/protocol/card';
import { useFormatFailure } from '../failure/format-failure.ts';
import { ApprovalPanel, type ArgumentsDraft } from './approval-panel.tsx';
import { argumentsBytes } from './arguments-text.ts';
import type { CardActions } from './card-actions.ts';
import { unsentOf } from './kept-texts.ts';
import { useIsReadOnly } from './read-only-note.tsx';
import { shownArguments } from './shown-arguments.ts';
import { useCallRecord } from './use-call-record.ts';

export interface ApprovalProps {
  callId: string;
  card: Card;
  actions: CardActions;
  /** How many equal calls the card shows to wait for the decision; 0 where that is not known. */
  waiting: number;
}

/**
 * A person's decision on a call. It is asked anew, with nothing read yet, when
 * what is decided changes: the arguments, the client, or the question itself.
 */
export function Approval(props: ApprovalProps) {
  const { card } = props;
  const params = shownArguments(card);
  const about = JSON.stringify([params, card.params_bytes]);
  const question = JSON.stringify([card.clock, card.client_id, about]);
  const draft = useDraft(props.callId, about);
  const isReadOnly = useIsReadOnly(props.callId, card);
  const actions = { ...props.actions, decide: decideOn(props) };
  return typeof card.params_bytes === 'number' ? (
    <FetchedApproval
      key={question}
      {...props}
      actions={actions}
      draft={draft}
      isReadOnly={isReadOnly}
    />
  ) : (
    <ApprovalPanel
      key={question}
      callId={props.callId}
      args={{ kind: 'known', params }}
      bytes={argumentsBytes(params)}
      draft={draft}
      always={card.always_rule}
      isReadOnly={isReadOnly}
      onDecide={(input) => actions.decide(props.callId, input)}
    />
  );
}

/** AP6: a question that is asked anew takes nothing away from what was written for its arguments. */
function useDraft(callId: string, about: string): ArgumentsDraft {
  const [draft, setDraft] = useState<{ about?: string; text: string } | null>(() =>
    unsentOf(callId, 'arguments'),
  );
  return {
    about,
    text: draft?.about === about ? draft.text : null,
    set: (text) => setDraft(text === null ? null : { about, text }),
  };
}

/** The yes is to what the card shows: the server refuses it where it has asked anew since. */
const decideOn =
  ({ card, actions, waiting }: ApprovalProps): CardActions['decide'] =>
  (callId, input) => {
    const expiresAt = card.clock?.name === 'approval' ? card.clock.deadline_at : null;
    return actions.decide(callId, {
      ...input,
      ...(expiresAt === null ? {} : { expires_at: expiresAt }),
      ...(waiting === 0 ? {} : { calls: waiting }),
    });
  };

type FetchedProps = ApprovalProps & { draft: ArgumentsDraft; isReadOnly: boolean };

/** The card has the beginning of its arguments; the decision is on all of them. */
function FetchedApproval(props: FetchedProps) {
  const [round, setRound] = useState(0);
  return <Fetched key={round} {...props} onAgain={() => setRound(round + 1)} />;
}

function Fetched({
  callId,
  card,
  actions,
  draft,
  isReadOnly,
  onAgain,
}: FetchedProps & { onAgain: () => void }) {
  const formatFailure = useFormatFailure();
  const { record } = useCallRecord(callId);
  const bytes = card.params_bytes ?? argumentsBytes(card.params);
  const args =
    record === null
      ? ({ kind: 'fetching' } as const)
      : record.ok
        ? ({ kind: 'known', params: record.value.args } as const)
        : ({ kind: 'failed', problem: formatFailure(record), onAgain } as const);
  return (
    <ApprovalPanel
      callId={callId}
      args={args}
      bytes={bytes}
      draft={draft}
      always={card.always_rule}
      isReadOnly={isReadOnly}
      onDecide={(input) => actions.decide(callId, input)}
    />
  );
}
