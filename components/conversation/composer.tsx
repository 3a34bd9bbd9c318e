'use client';

import { useTranslations } from 'next-intl';
import { type KeyboardEvent, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { readDraft, writeDraft } from './draft.ts';

export interface ComposerProps {
  runId: string | null;
  running: boolean;
  stopping: boolean;
  pending: boolean;
  /** Why nothing can be sent now. */
  blocked?: string | undefined;
  /** Rises when the field should be focused. */
  focusWish: number;
  /** True once it is sent. */
  onSend: (text: string) => Promise<boolean>;
  onStop: () => void;
}

/** Where one writes. Enter sends, but not while an input method composes; what was typed is kept. */
export function Composer(props: ComposerProps) {
  const { runId, running, pending, blocked, onSend, onStop } = props;
  const t = useTranslations('conversation');
  const hint = useId();
  const reason = useId();
  const [text, setText] = useDraft(runId);
  const field = useGrowingField(text, props.focusWish);
  const canSend = text.trim() !== '' && !running && !pending && blocked === undefined;

  const send = async () => {
    if (canSend && (await onSend(text.trim()))) setText('');
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && running) onStop();
    // `isComposing`, or the key code that Safari gives the Enter which ends a composition.
    const composing = event.nativeEvent.isComposing || event.keyCode === 229;
    if (event.key !== 'Enter' || event.shiftKey || composing) return;
    event.preventDefault();
    void send();
  };

  return (
    <form
      className="flex flex-wrap items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {blocked !== undefined && (
        <p id={reason} className="w-full text-error">
          {blocked}
        </p>
      )}
      <textarea
        ref={field}
        rows={2}
        value={text}
        aria-label={t('composer')}
        aria-describedby={hint}
        placeholder={t('placeholder')}
        enterKeyHint="send"
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
        className="field max-h-60 min-w-0 flex-1 resize-none py-2"
      />
      <span id={hint} className="sr-only">
        {t('composerHint')}
      </span>
      {running && (
        <Button onClick={onStop} disabled={props.stopping} aria-keyshortcuts="Escape">
          {props.stopping ? t('stopping') : t('stop')}
        </Button>
      )}
      <Button
        type="submit"
        variant="primary"
        disabled={!canSend}
        aria-describedby={blocked === undefined ? undefined : reason}
      >
        {t('send')}
      </Button>
    </form>
  );
}

/** The draft of the run that is shown; each run has its own. */
function useDraft(runId: string | null): [string, (text: string) => void] {
  const [draft, setDraft] = useState({ runId, text: '' });
  // Read after the first paint: the server, which draws the page first, knows no drafts.
  useEffect(() => setDraft({ runId, text: readDraft(runId) }), [runId]);
  const set = (text: string) => {
    setDraft({ runId, text });
    writeDraft(runId, text);
  };
  return [draft.runId === runId ? draft.text : '', set];
}

/** As high as its text, up to its greatest height. */
function useGrowingField(text: string, focusWish: number) {
  const field = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    const element = field.current;
    if (!element || element.value !== text) return;
    element.style.height = 'auto';
    element.style.height = `${element.scrollHeight + 2}px`;
  }, [text]);
  useEffect(() => {
    if (focusWish > 0) field.current?.focus();
  }, [focusWish]);
  return field;
}
