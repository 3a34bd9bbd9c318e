'use client';

import { useTranslations } from 'next-intl';
import { useId, useRef } from 'react';
import { parseArguments } from '#lib/format/json-preview';
import { Button } from '../ui/button.tsx';
import { HiddenNote } from '../ui/hidden-note.tsx';
import { AllowButton } from './allow-button.tsx';
import { forgetText } from './kept-texts.ts';
import { ReadFirst } from './read-first.tsx';
import { useFirstFocus } from './use-first-focus.ts';
import { useKeepText } from './use-kept-text.ts';
import { useSeenToEnd } from './use-seen-to-end.ts';

export interface ArgumentsEditorProps {
  callId: string;
  /** The arguments that are asked about. */
  about: string;
  text: string;
  /** It is no longer what the agent wrote. */
  isChanged: boolean;
  isSending: boolean;
  /** A person has just asked for it. */
  takesFocus: boolean;
  onChange: (text: string) => void;
  onAllow: (args: Record<string, unknown>) => void;
  onBack: () => void;
}

/** Other arguments than the agent's, as JSON, before a call is allowed. */
export function ArgumentsEditor(props: ArgumentsEditorProps) {
  const { callId, text } = props;
  const t = useTranslations('card');
  const common = useTranslations('common');
  const id = useId();
  const field = useRef<HTMLDivElement>(null);
  useFirstFocus(field, 'textarea', props.takesFocus);
  useKeepText(callId, field, {
    of: 'arguments',
    text: props.isChanged ? text : '',
    about: props.about,
  });
  const seen = useSeenToEnd(text);
  const parsed = parseArguments(text);
  const problem = parsed.ok
    ? null
    : parsed.problem === 'not_object'
      ? t('approval.notObject')
      : common('notJson', { problem: parsed.message });
  return (
    <div ref={field} className="mt-2">
      <textarea
        ref={seen.ref}
        onScroll={seen.onScroll}
        aria-label={t('approval.arguments')}
        aria-invalid={problem !== null}
        aria-describedby={problem === null ? `${id}-hidden` : `${id}-problem`}
        spellCheck={false}
        rows={Math.min(12, text.split('\n').length + 1)}
        value={text}
        onChange={(event) => props.onChange(event.target.value)}
        className="field mono w-full"
      />
      {problem !== null && (
        <p id={`${id}-problem`} role="alert" className="mt-1 text-xs text-error">
          {problem}
        </p>
      )}
      <HiddenNote
        id={`${id}-hidden`}
        text={parsed.ok ? JSON.stringify(parsed.args, null, 2) : text}
      />
      <ReadFirst id={`${id}-reason`} isReady={seen.isSeen} isLong={seen.isLong} />
      <div className="mt-2 flex flex-wrap gap-2">
        <AllowButton
          variant="primary"
          disabled={!parsed.ok || props.isSending}
          blockedBy={seen.isSeen ? null : `${id}-reason`}
          onBlocked={() => field.current?.querySelector('textarea')?.focus()}
          onClick={() => parsed.ok && props.onAllow(parsed.args)}
        >
          {t('approval.allowEdited')}
        </AllowButton>
        <Button
          disabled={props.isSending}
          onClick={() => {
            forgetText(callId);
            props.onBack();
          }}
        >
          {common('back')}
        </Button>
      </div>
    </div>
  );
}
