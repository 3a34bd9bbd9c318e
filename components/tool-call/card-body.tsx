'use client';

import { useTranslations } from 'next-intl';
import { late } from '#components/ui/late';
import { MarkedText } from '#components/ui/marked-text';
import { jsonPreview } from '#lib/format/json-preview';
import type { Card } from '#lib/protocol/card';
import { useIsViewer } from '../providers/workbench-context.tsx';
import { JsonTree } from '../result/json-tree.tsx';
import { PartNote, type Whole } from '../result/part-note.tsx';
import { ResultView } from '../result/result-view.tsx';
import { Approval } from './approval.tsx';
import type { CardActions } from './card-actions.ts';
import { CardButtons } from './card-buttons.tsx';
import { CardResult } from './card-result.tsx';
import type { CardView } from './card-view.ts';
import { Disclosure } from './disclosure.tsx';
import { ErrorPanel } from './error-panel.tsx';
import { KeptTextPanel } from './kept-text-panel.tsx';
import { PartialParams } from './partial-params.tsx';
import type { QuestionFormProps } from './question-form.tsx';
import { shownArguments } from './shown-arguments.ts';
import { useKeptText } from './use-kept-text.ts';
import type { SameQuestion } from './use-question.ts';
import { wholeFor } from './whole-for.ts';

export interface CardBodyProps {
  callId: string;
  card: Card;
  view: CardView;
  isStale: boolean;
  isAsked: boolean;
  same?: SameQuestion | undefined;
  actions: CardActions;
}

/** Few cards have it. */
const QuestionForm = late<QuestionFormProps>(() =>
  import('./question-form.tsx').then((module) => module.QuestionForm),
);

const PREVIEW_CHARS = 120;
const ALONE: SameQuestion = { first: undefined, count: 0 };

/** The rows of a card below its sentence: what its state needs, then what is there on demand. */
export function CardBody(props: CardBodyProps) {
  const { callId, card, view, same = ALONE, actions } = props;
  const kept = useKeptText(callId);
  if (view.kind === 'streaming') return <PartialParams params={card.params} isWriting />;
  if (view.actions.decide) {
    return (
      <div data-decision="">
        <SameQuestionNote callId={callId} same={same} />
        <OperandsNote operands={card.approval_operands} />
        {(same.first ?? callId) === callId && (
          <Approval callId={callId} card={card} actions={actions} waiting={same.count} />
        )}
        <RepairsNote repairs={card.repairs} />
        {card.args_unchecked && <UncheckedNote />}
      </div>
    );
  }
  if (view.actions.answer) {
    return (
      <div data-decision="">
        <SameQuestionNote callId={callId} same={same} />
        {(same.first ?? callId) === callId && (
          <QuestionForm callId={callId} card={card} actions={actions} />
        )}
      </div>
    );
  }
  const errorWhole = wholeFor(callId, card, 'error', actions);
  return (
    <>
      {kept && !kept.isSending && <KeptTextPanel callId={callId} card={card} kept={kept} />}
      {(view.kind === 'approval' || view.kind === 'question') && <ForOperators kind={view.kind} />}
      {card.status === 'DOING' && (view.kind === 'running' || card.progress) && (
        <CardProgress card={card} isStale={props.isStale || view.kind !== 'running'} />
      )}
      {view.isLive && card.preview !== undefined && card.preview !== null && (
        <Preview callId={callId} card={card} actions={actions} />
      )}
      {card.status === 'SUCCESS' && <CardResult callId={callId} card={card} actions={actions} />}
      {card.status === 'ERROR' && <ErrorPanel card={card} />}
      {errorWhole && <PartNote shown={card.error?.message} whole={errorWhole} />}
      <RepairsNote repairs={card.repairs} />
      <div className="mt-1.5 flex flex-wrap items-start justify-end gap-x-2 gap-y-1.5 not-has-[button,a]:hidden">
        <Params
          callId={callId}
          part="arguments"
          params={shownArguments(card)}
          whole={wholeFor(callId, card, 'arguments', actions)}
        />
        <Params callId={callId} part="reported" params={card.status_params ?? {}} />
        <CardButtons
          callId={callId}
          card={card}
          view={view}
          isAsked={props.isAsked}
          actions={actions}
        />
      </div>
    </>
  );
}

/** In place of the decision, for those who may not make it; nothing until it is known who reads. */
function ForOperators({ kind }: { kind: 'approval' | 'question' }) {
  const t = useTranslations('card');
  return useIsViewer() && <p className="mt-0.5 text-muted">{t(`${kind}.forOperators`)}</p>;
}

type PartProps = Pick<CardBodyProps, 'callId' | 'card' | 'actions'>;

function Preview({ callId, card, actions }: PartProps) {
  const t = useTranslations('card.part');
  return (
    <div className="mt-2 border-l-2 border-line pl-2">
      <p className="text-xs font-semibold text-muted">{t('preview')}</p>
      <ResultView
        value={card.preview}
        attachments={[]}
        name={card.tool_name ?? ''}
        blobUrl={actions.blobUrl}
        whole={wholeFor(callId, card, 'preview', actions)}
      />
    </div>
  );
}

interface ParamsProps {
  callId: string;
  /** What the executor got, or what it reported beside that. */
  part: 'arguments' | 'reported';
  params: Record<string, unknown>;
  /** When `params` are their beginning. */
  whole?: Whole | undefined;
}

function Params({ callId, part, params, whole }: ParamsProps) {
  const t = useTranslations('card.part');
  if (Object.keys(params).length === 0) return null;
  return (
    <Disclosure
      label={t(part)}
      preview={jsonPreview(params, PREVIEW_CHARS)}
      memoryKey={`${callId}:${part}`}
      className="min-w-40 flex-1"
    >
      {() => (
        <>
          <JsonTree value={params} label={t(part)} />
          {whole && <PartNote shown={params} whole={whole} />}
        </>
      )}
    </Disclosure>
  );
}

/** How far a running call is: a share of a known total, else only that it moves. */
function CardProgress({ card, isStale }: { card: Card; isStale: boolean }) {
  const t = useTranslations('card');
  const { progress } = card;
  const total = progress?.total;
  const label = t('part.progress', { tool: card.tool_name ?? '' });
  if (progress && total !== undefined) {
    const share = Math.min(1, progress.done / total);
    return (
      <div className="mt-2 flex items-center gap-2">
        <div
          role="progressbar"
          aria-label={label}
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuenow={Math.floor(share * 100)}
          className="h-1.5 min-w-0 flex-1 overflow-hidden rounded-full bg-surface2"
        >
          <div
            className="h-full w-full origin-left bg-doing transition-transform duration-200 ease-linear"
            style={{ transform: `scaleX(${share})` }}
          />
        </div>
        <span className="text-xs tabular-nums text-muted">
          {t('part.progressOf', { done: progress.done, total })}
        </span>
      </div>
    );
  }
  return (
    <div className="mt-2 flex items-center gap-2">
      <div
        role="progressbar"
        aria-label={label}
        className="h-1.5 min-w-0 flex-1 overflow-hidden rounded-full bg-surface2"
      >
        <div className={`h-full w-full bg-doing ${isStale ? 'opacity-40' : 'indet'}`} />
      </div>
      {progress && (
        <span className="text-xs tabular-nums text-muted">
          {t('part.progressDone', { done: progress.done })}
        </span>
      )}
    </div>
  );
}

/** CD40: what the arguments refer to, such as files, which a yes is for as it is now. */
function OperandsNote({ operands }: { operands: Card['approval_operands'] }) {
  const t = useTranslations('card.operands');
  const common = useTranslations('common');
  if (!operands) return null;
  const { first, count } = operands;
  const names = first
    .map(({ name, hash }) => (hash === undefined ? name : t('hashed', { name, hash })))
    .join(common('separator'));
  const more = count - first.length;
  return (
    <NamesNote
      title={t('title')}
      names={names}
      more={more > 0 ? t('more', { count: more }) : null}
    />
  );
}

/** A yes is for arguments of which not all was checked. */
function UncheckedNote() {
  const t = useTranslations('card');
  return <p className="mt-1.5 text-xs text-muted">{t('unchecked')}</p>;
}

/** CD29: which arguments are not as they were written, on a card that has some. */
function RepairsNote({ repairs }: Pick<Card, 'repairs'>) {
  const t = useTranslations('card.repairs');
  const common = useTranslations('common');
  if (!repairs) return null;
  const { paths, count } = repairs;
  const names = paths.map((path) => (path === '' ? t('whole') : path)).join(common('separator'));
  const more = count - paths.length;
  return (
    <NamesNote
      title={t('title')}
      names={names}
      more={more > 0 ? t('more', { count: more }) : null}
    />
  );
}

/** Beside a decision: about how many calls it is. In its place, where another card has it: the way there. */
function SameQuestionNote({ callId, same }: { callId: string; same: SameQuestion }) {
  const t = useTranslations('card.approval');
  const { first, count } = same;
  if (first === undefined || (first === callId && count < 2)) return null;
  return (
    <p className="mt-1 text-wait" data-testid="same-question">
      {first === callId ? (
        t('decidesAll', { count })
      ) : (
        <a className="underline underline-offset-2" href={`#call=${first}`}>
          {t('decidedThere')}
        </a>
      )}
    </p>
  );
}

interface NamesNoteProps {
  title: string;
  names: string;
  /** Of those that are not named. */
  more: string | null;
}

/** A line of a card about some names that others have written. */
function NamesNote({ title, names, more }: NamesNoteProps) {
  return (
    <p className="mt-1.5 text-xs text-muted wrap-anywhere">
      {title}
      <span className="mono">
        <MarkedText text={names} />
      </span>
      {more}
    </p>
  );
}
