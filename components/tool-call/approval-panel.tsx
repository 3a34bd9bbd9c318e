'use client';

import { useTranslations } from 'next-intl';
import { useEffect, useId, useRef, useState } from 'react';
import { Button } from '#components/ui/button';
import type { ApprovalInput } from '#lib/api/http-client';
import { visibleJsonText } from '#lib/format/show-control-characters';
import type { AlwaysOffer } from '#lib/protocol/always';

import { AllowButton } from './allow-button.tsx';
import { AlwaysForm } from './always-form.tsx';
import { ArgumentsEditor } from './arguments-editor.tsx';
import { argumentsText } from './arguments-text.ts';
import { type ArgumentsToDecide, ArgumentsToRead } from './arguments-to-read.tsx';
import { DenyForm } from './deny-form.tsx';
import { unsentOf } from './kept-texts.ts';
import { ReadFirst } from './read-first.tsx';
import { ReadOnlyNote } from './read-only-note.tsx';
import { useFirstFocus } from './use-first-focus.ts';
import { useSeenToEnd } from './use-seen-to-end.ts';

/** What a person writes in place of the arguments; null while they are not edited. */
export interface ArgumentsDraft {
  readonly text: string | null;
  /** The arguments that it would replace. */
  readonly about: string;
  readonly set: (text: string | null) => void;
}

export interface ApprovalPanelProps {
  callId: string;
  args: ArgumentsToDecide;
  /** Of the arguments as JSON. */
  bytes: number;
  draft: ArgumentsDraft;
  /** What "always" would allow; null: it is no choice here. */
  always: AlwaysOffer | null | undefined;
  /** A yes would be refused: the autonomy is read only. */
  isReadOnly: boolean;
  /** Resolves to whether the decision was taken. */
  onDecide: (input: ApprovalInput) => Promise<boolean>;
}

/**
 * A person's decision on a call, with the arguments in the open. When it comes
 * it takes no focus: an approval must not be given by a key press meant for something
 * else. Nor is it given before the arguments were read to their end, or folded.
 */
export function ApprovalPanel(props: ApprovalPanelProps) {
  const { callId, args, bytes, draft, always, isReadOnly, onDecide } = props;
  const [isSending, setSending] = useState(false);
  // Whose button was pressed: the other side then takes the focus over from it.
  const [from, setFrom] = useState<'question' | 'editor' | 'no' | null>(null);
  const [isDenying, setDenying] = useState(() => unsentOf(callId, 'reason') !== null);

  const decide = async (input: ApprovalInput) => {
    setSending(true);
    const taken = await onDecide(input);
    // Taken: the card changes by the watch feed, and a second click must not come between.
    if (!taken) setSending(false);
  };

  if (isDenying) {
    return (
      <DenyForm
        callId={callId}
        isSending={isSending}
        onDeny={(note) => decide({ decision: 'no', ...(note && { note }) })}
        onBack={() => {
          setFrom('no');
          setDenying(false);
        }}
      />
    );
  }
  return draft.text !== null && args.kind === 'known' ? (
    <ArgumentsEditor
      callId={callId}
      about={draft.about}
      text={draft.text}
      isChanged={draft.text !== visibleJsonText(args.params)}
      isSending={isSending}
      onChange={draft.set}
      onAllow={(edited) => decide({ decision: 'yes', args: edited })}
      takesFocus={from === 'question'}
      onBack={() => {
        setFrom('editor');
        draft.set(null);
      }}
    />
  ) : (
    <Question
      args={args}
      bytes={bytes}
      isSending={isSending}
      always={always}
      isReadOnly={isReadOnly}
      onDecide={decide}
      takesFocus={from === 'editor' || from === 'no' ? from : null}
      onDeny={() => setDenying(true)}
      onEdit={() => {
        if (args.kind !== 'known') return;
        setFrom('question');
        draft.set(visibleJsonText(args.params));
      }}
    />
  );
}

interface QuestionProps {
  args: ArgumentsToDecide;
  bytes: number;
  isSending: boolean;
  always: ApprovalPanelProps['always'];
  isReadOnly: boolean;
  onDecide: (input: ApprovalInput) => void;
  onEdit: () => void;
  onDeny: () => void;
  /** The button that leads to where one comes back from. */
  takesFocus: 'editor' | 'no' | null;
}

function Question(props: QuestionProps) {
  const { args, bytes, isSending, always, isReadOnly, onDecide, onEdit, onDeny, takesFocus } =
    props;
  const t = useTranslations('card.approval');
  const reasonId = useId();
  const readOnlyId = useId();
  const region = useRef<HTMLDivElement>(null);
  const left = takesFocus === 'no' ? 'no-reason' : 'edit';
  useFirstFocus(region, `[data-approval="${left}"]`, takesFocus !== null);
  const [isFolded, setFolded] = useState(false);
  const [isAlways, setAlways] = useState<boolean | null>(null);
  useFirstFocus(region, '[data-approval="always"]', isAlways === false);
  const seen = useSeenToEnd(args.kind === 'known' ? argumentsText(args.params) : '');
  const isReady = isFolded || (args.kind === 'known' && seen.isSeen);
  const allow = {
    disabled: isSending,
    blockedBy: isReadOnly ? readOnlyId : isReady ? null : reasonId,
    onBlocked: () =>
      isReadOnly
        ? document.getElementById(readOnlyId)?.querySelector('a')?.focus()
        : region.current?.querySelector<HTMLElement>('[role="group"]')?.focus(),
  };
  return (
    <div ref={region}>
      <ArgumentsToRead
        args={args}
        bytes={bytes}
        seen={seen}
        isFolded={isFolded}
        onFold={setFolded}
      />
      {isReadOnly && <ReadOnlyNote id={readOnlyId} />}
      <ReadFirst id={reasonId} isReady={isReady} isLong={seen.isLong} canFold />
      {isSending && <StillSending />}
      <div className="mt-2 flex flex-wrap gap-2">
        <AllowButton
          {...allow}
          variant="primary"
          onClick={() => onDecide({ decision: 'yes' })}
          data-approval="yes"
        >
          {t('allow')}
        </AllowButton>
        {always && (
          <Button
            data-approval="always"
            aria-expanded={isAlways === true}
            disabled={isSending}
            onClick={() => setAlways(isAlways !== true)}
          >
            {t('always')}
          </Button>
        )}
        <Button
          data-approval="edit"
          disabled={isSending || isReadOnly || args.kind !== 'known'}
          onClick={onEdit}
        >
          {t('edit')}
        </Button>
        <Button
          variant="danger"
          disabled={isSending}
          onClick={() => onDecide({ decision: 'no' })}
          data-approval="no"
          data-decides=""
        >
          {t('deny')}
        </Button>
        <Button disabled={isSending} onClick={onDeny} data-approval="no-reason">
          {t('denyWith')}
        </Button>
      </div>
      {always && isAlways && (
        <AlwaysForm
          allow={allow}
          always={always}
          args={args.kind === 'known' ? args.params : null}
          onDecide={onDecide}
          onBack={() => setAlways(false)}
        />
      )}
    </div>
  );
}

/** A press has its answer at once; only one that waits for it is explained. */
const SLOW_MS = 3_000;

/** Why the buttons take no press: the server has not answered the one before. */
function StillSending() {
  const t = useTranslations('card.approval');
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), SLOW_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p role="status" className="mt-1 text-xs text-wait empty:hidden">
      {isSlow && t('stillSending')}
    </p>
  );
}
