'use client';

import { memo, useMemo, useState } from 'react';
import { Boundary } from '#components/ui/boundary';
import { late } from '#components/ui/late';
import type { Card } from '#lib/protocol/card';
import { agentOf } from '#lib/protocol/child-run';
import { useCall, useHasRole, useIsSilent, useTool } from '../providers/workbench-context.tsx';
import { CannotShow } from '../result/cannot-show.tsx';
import { blockedClients } from './blocked-clients.ts';
import type { CardActions } from './card-actions.ts';
import { untilTaken } from './kept-texts.ts';
import type { PoolWorkProps } from './pool-work.tsx';
import type { SubAgentWorkProps } from './sub-agent-work.tsx';
import { ToolCard } from './tool-card.tsx';
import { useQuestion } from './use-question.ts';

/** Few cards have it. */
const SubAgentWork = late<SubAgentWorkProps>(() =>
  import('./sub-agent-work.tsx').then((module) => module.SubAgentWork),
);

const PoolWork = late<PoolWorkProps>(() =>
  import('./pool-work.tsx').then((module) => module.PoolWork),
);

export interface ConnectedCardProps {
  callId: string;
  isStale: boolean;
  actions: CardActions;
}

/** A card by its id: it renders when its own call changes, whatever the others do. */
export const ConnectedCard = memo(function ConnectedCard(props: ConnectedCardProps) {
  const { callId, actions } = props;
  const entry = useCall(callId);
  const isSilent = useIsSilent(entry?.card.client_id);
  const isQueued = entry?.card.phase === 'queued';
  const tool = useTool(isQueued ? entry.card.tool_name : undefined);
  const card = entry?.card;
  const blocked = useMemo(() => (card ? blockedClients(card, tool) : []), [card, tool]);
  const same = useQuestion(card);
  const mayAct = useHasRole('operator');
  const [isAsked, setAsked] = useState(false);
  const own = useMemo<CardActions>(
    () => ({
      ...actions,
      cancel: async (id) => {
        // Shown at once: an answer from a client that hangs can take seconds.
        setAsked(true);
        const wasAsked = await actions.cancel(id);
        if (!wasAsked) setAsked(false);
        return wasAsked;
      },
      decide: (id, input) => untilTaken(id, actions.decide(id, input)),
      answer: (id, answer) => untilTaken(id, actions.answer(id, answer)),
    }),
    [actions],
  );
  const { isStale } = props;
  const below = useMemo(
    () => (card ? workBelow(callId, card, { isStale, actions }) : undefined),
    [callId, card, isStale, actions],
  );
  if (!entry) return null;
  return (
    <Boundary of={entry.card} fallback={<BrokenCard callId={callId} card={entry.card} />}>
      <ToolCard
        callId={callId}
        seq={entry.seq}
        card={entry.card}
        isStale={props.isStale}
        isSilent={isSilent}
        blocked={blocked}
        isAsked={isAsked}
        same={same}
        mayAct={mayAct}
        isDeleted={entry.isDeleted ?? false}
        actions={own}
        below={below}
      />
    </Boundary>
  );
});

/** The cards of a sub-agent, or of each client, lie in the card of the call that they work for (CD33, CD42). */
function workBelow(callId: string, card: Card, props: Omit<ConnectedCardProps, 'callId'>) {
  const isLive = card.status === 'DOING';
  const renderCard = (id: string) => <ConnectedCard callId={id} {...props} />;
  if (card.source === 'pool')
    return <PoolWork callId={callId} isLive={isLive} renderCard={renderCard} />;
  const agent = card.source === 'server' ? agentOf(card.tool_name ?? '', card.params) : undefined;
  if (agent === undefined || !card.started_at) return undefined;
  return <SubAgentWork callId={callId} agent={agent} isLive={isLive} renderCard={renderCard} />;
}

/** In place of a card that could not be drawn: which call it is, and its data as a file. */
const BrokenCard = ({ callId, card }: { callId: string; card: Card }) => (
  <article
    aria-label={callId}
    tabIndex={-1}
    data-testid="tool-card"
    data-call-id={callId}
    className="tool-card card px-3 py-2.5"
  >
    <h3 className="mono font-bold wrap-anywhere">{callId}</h3>
    <CannotShow value={card} name={callId} />
  </article>
);
