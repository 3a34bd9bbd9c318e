'use client';

import { Bot } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { memo, type ReactNode, useId } from 'react';
import { formatCountdown } from '#lib/format/amounts';
import { showControlCharacters } from '#lib/format/show-control-characters';
import type { Card, HookNote } from '#lib/protocol/card';
import { CannotShow } from '../result/cannot-show.tsx';
import { useNow } from '../shell/use-now.ts';
import { Boundary } from '../ui/boundary.tsx';
import { MarkedText } from '../ui/marked-text.tsx';
import { VisuallyHidden } from '../ui/visually-hidden.tsx';
import type { BlockedClient } from './blocked-clients.ts';
import type { CardActions } from './card-actions.ts';
import { CardBody } from './card-body.tsx';
import { CardClock } from './card-clock.tsx';
import { CardMenu } from './card-menu.tsx';
import { approvalReasons, type CardSentence, cardSentence, formatClient } from './card-sentence.ts';
import { EDGE_CLASSES } from './card-tone.ts';
import { cardView } from './card-view.ts';
import { hasClients } from './elsewhere.ts';
import { LateAnswer } from './late-answer.tsx';
import { StatusChip } from './status-chip.tsx';
import type { SameQuestion } from './use-question.ts';

import './tool-card.css';

export interface ToolCardProps {
  callId: string;
  /** Number of the event that last changed it. */
  seq: number;
  card: Card;
  /** The connection is lost: what is shown is the last known state, and time is counted here. */
  isStale?: boolean;
  /** Its client is connected and does not answer. */
  isSilent?: boolean;
  /** All whom a queued call could go to, when none of them is asked now. */
  blocked?: readonly BlockedClient[];
  /** A cancel was requested, and the server has not reported it yet. */
  isAsked?: boolean;
  /** The server deleted the call: nothing more can be had of it, or done. */
  isDeleted?: boolean;
  /** Calls that wait for the same decision. */
  same?: SameQuestion | undefined;
  /** Whether the person may do something with calls, and not only read them. */
  mayAct?: boolean;
  actions: CardActions;
  /** At the end of the card. */
  below?: ReactNode;
}

const NO_CLIENTS: readonly BlockedClient[] = [];

/** One tool call, drawn from its props alone: no store, no socket. */
export const ToolCard = memo(function ToolCard(props: ToolCardProps) {
  const { callId, card, isStale = false, isSilent = false, isAsked = false, actions } = props;
  const { blocked = NO_CLIENTS, isDeleted = false, mayAct = true, same } = props;
  const t = useTranslations('card');
  const common = useTranslations('common');
  const titleId = useId();
  const view = cardView(card, mayAct);
  const sentence = cardSentence(card, view, t);
  const reasons = approvalReasons(card, view, t);
  const isBlocked = blocked.length > 0 && view.kind === 'queued' && !isStale;
  const name = showControlCharacters(card.tool_name ?? '…');
  return (
    <article
      aria-labelledby={titleId}
      tabIndex={-1}
      data-testid="tool-card"
      data-call-id={callId}
      data-status={card.status ?? 'WAIT'}
      data-phase={card.phase ?? ''}
      data-seq={props.seq}
      data-look={view.kind}
      data-stale={isStale && view.isLive ? '' : undefined}
      className={`tool-card card @container px-3 py-2.5 ${EDGE_CLASSES[view.tone]}`}
    >
      {/* On a narrow card the name has the first row, with the menu at its end. */}
      <header className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
        <h3
          id={titleId}
          className="mono min-w-0 font-bold wrap-anywhere @max-md:-order-2 @max-md:basis-[calc(100%-4rem)]"
        >
          <MarkedText text={card.tool_name ?? '…'} />
        </h3>
        <StatusChip kind={view.kind} tone={view.tone} isStale={isStale} />
        <AgentChip requested_by={card.requested_by} />
        <span className="min-w-0 text-xs text-muted wrap-anywhere">
          <MarkedText text={formatSource(card, t)} />
        </span>
        <CardClock card={card} isStale={isStale} />
        {!isDeleted && (
          <span className="@max-md:-order-1 @max-md:ml-auto">
            <CardMenu
              callId={callId}
              toolName={name}
              mayAct={mayAct}
              isFinal={!view.isLive}
              canCancel={view.actions.cancel && !isAsked}
              canExtend={view.actions.extend}
              mayRepeat={view.mayRepeat}
              hasClients={hasClients(card)}
              actions={actions}
            />
          </span>
        )}
      </header>
      {isDeleted ? (
        <p className="mt-0.5 text-muted">{common('callDeleted')}</p>
      ) : isBlocked ? (
        <BlockedSentence clients={blocked} />
      ) : reasons.length > 0 ? (
        <Reasons reasons={reasons} />
      ) : (
        sentence && <Sentence sentence={sentence} />
      )}
      {isSilent && view.isLive && !isStale && !isBlocked && (
        <p className="mt-0.5 text-xs font-semibold text-wait wrap-anywhere">
          <MarkedText text={t('tip.silent', { client: formatClient(card, t) })} />
        </p>
      )}
      {!isDeleted && (
        <Boundary of={card} fallback={<CannotShow value={card} name={callId} />}>
          <CardBody
            callId={callId}
            card={card}
            view={view}
            isStale={isStale}
            isAsked={isAsked}
            same={same}
            actions={actions}
          />
        </Boundary>
      )}
      {card.approval_decision && !isDeleted && (
        <DecidedBy {...card.approval_decision} isQuestion={card.question !== undefined} />
      )}
      {card.allowed_by_rule && !isDeleted && <AllowedByRule {...card.allowed_by_rule} />}
      {props.below}
      {card.hooks && !isDeleted && <CardHooks notes={card.hooks} />}
      {card.late_result && !isDeleted && (
        <LateAnswer callId={callId} card={card} blobUrl={actions.blobUrl} />
      )}
      {card.retry_of && (
        <p className="mt-1.5 text-xs text-muted">
          <a className="underline underline-offset-2" href={`#call=${card.retry_of}`}>
            {t('tip.retryOf', { id: card.retry_of })}
          </a>
        </p>
      )}
    </article>
  );
});

/** The tool's own words are in an unknown language; ours name clients, which name themselves. */
const Sentence = ({ sentence }: { sentence: CardSentence }) => (
  <p {...(sentence.own ? { lang: '' } : {})} className="mt-0.5 wrap-anywhere">
    <MarkedText text={sentence.text} />
  </p>
);

const LIST = { role: 'list' };

/** All of why a person is asked, one in a line. */
const Reasons = ({ reasons }: { reasons: readonly CardSentence[] }) => (
  <ul data-testid="approval-reasons" className="mt-0.5 list-disc space-y-0.5 pl-5" {...LIST}>
    {reasons.map((reason) => (
      <li key={reason.text}>
        <Sentence sentence={reason} />
      </li>
    ))}
  </ul>
);

function formatSource(card: Card, t: ReturnType<typeof useTranslations<'card'>>): string {
  if (card.source === undefined) return '';
  if (card.source === 'client' && !card.client_id && !card.client_name) return '';
  const again =
    (card.attempt ?? 1) > 1 ? ` · ${t('tip.attempt', { attempt: card.attempt ?? 1 })}` : '';
  return `${formatClient(card, t)}${again}`;
}

const AGENT = 'agent:';

/** Which program asked, for calls of programs with a token of their own; of all others nothing. */
function AgentChip({ requested_by: caller }: Pick<Card, 'requested_by'>) {
  const t = useTranslations('card');
  if (!caller?.startsWith(AGENT)) return null;
  const name = caller.slice(AGENT.length);
  return (
    <span
      className="chip min-w-0 max-w-44 text-muted"
      title={t('agent', { name })}
      data-testid="agent-chip"
    >
      <Bot aria-hidden className="size-3.5 shrink-0" strokeWidth={2.25} />
      <span aria-hidden className="min-w-0 truncate">
        <MarkedText text={name} />
      </span>
      <VisuallyHidden>
        <MarkedText text={t('agent', { name })} />
      </VisuallyHidden>
    </span>
  );
}

/** Rows before the rest is only counted. */
const MAX_SHOWN = 3;

/** Whom a queued call waits for, and why none of them is asked now. */
export function BlockedSentence({ clients }: { clients: readonly BlockedClient[] }) {
  const t = useTranslations('card.tip.blocked');
  const now = useNow(clients.some(({ kind }) => kind === 'tripped'));
  const more = clients.length - MAX_SHOWN;
  return (
    <div className="mt-0.5 text-wait wrap-anywhere" data-testid="card-blocked">
      {clients.slice(0, MAX_SHOWN).map((client) => (
        <p key={client.id}>
          <MarkedText text={words(client, t, now)} />
        </p>
      ))}
      {more > 0 && <p>{t('more', { count: more })}</p>}
    </div>
  );
}

function words(
  client: BlockedClient,
  t: ReturnType<typeof useTranslations<'card.tip.blocked'>>,
  now: number,
): string {
  const { name } = client;
  if (client.kind === 'silent') return t('silent', { client: name });
  const { failures } = client;
  const leftMs = client.until * 1_000 - now;
  if (leftMs <= 0) return t('triedAgain', { client: name, failures });
  return t('tripped', { client: name, failures, time: formatCountdown(leftMs) });
}

/** What hooks of the configuration did to the call, a line for each. */
function CardHooks({ notes }: { notes: readonly HookNote[] }) {
  const t = useTranslations('card.hook');
  return (
    <ul className="mt-1 text-xs text-muted wrap-anywhere" data-testid="card-hooks">
      {notes.map(({ name, did, keys = [] }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: notes are added at the end and never moved.
        <li key={at}>
          <MarkedText text={t(did, { name, keys: keys.join(', ') || '–' })} />
        </li>
      ))}
    </ul>
  );
}

/** Nobody was asked: the rule that allowed the call, which the page of the policy shows whole. */
function AllowedByRule({ id, by, names, use, uses }: NonNullable<Card['allowed_by_rule']>) {
  const t = useTranslations('card.always');
  const about = names.length > 0 ? t('about', { names: names.join(', ') }) : '';
  const count = use !== undefined && uses !== undefined ? t('use', { use, uses }) : '';
  return (
    <p className="mt-1.5 text-xs text-muted wrap-anywhere" title={id} data-testid="allowed-by-rule">
      <MarkedText text={`${t('allowedBy', { name: by })}${about}${count}`} />
    </p>
  );
}

type DecidedByProps = NonNullable<Card['approval_decision']> & { isQuestion: boolean };

/** Whose decision on the call it was, which is the first and the only one, and of how many calls. */
function DecidedBy({ by, decision, edited, calls = 1, isQuestion }: DecidedByProps) {
  const t = useTranslations('card');
  const isAnswered = isQuestion || decision === 'answer';
  const did = isAnswered
    ? (`question.${decision === 'no' ? 'declinedBy' : 'answeredBy'}` as const)
    : (`approval.${decision === 'no' ? 'deniedBy' : edited ? 'editedBy' : 'allowedBy'}` as const);
  const together = calls > 1 ? ` · ${t('approval.decidesAll', { count: calls })}` : '';
  return (
    <p className="mt-1.5 text-xs text-muted wrap-anywhere" data-testid="decided-by">
      <MarkedText text={`${t(did, { name: by })}${together}`} />
    </p>
  );
}
