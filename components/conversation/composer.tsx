'use client';

import { useTranslations } from 'next-intl';
import {
  type KeyboardEvent,
  type RefObject,
  useCallback,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { tabMemory } from '../providers/stored-text.ts';
import { TabWait } from '../shell/tab-wait.tsx';
import { Button } from '../ui/button.tsx';

export interface ComposerProps {
  runId: string | null;
  running: boolean;
  stopping: boolean;
  pending: boolean;
  /** Why nothing can be sent now. */
  blocked?: string | undefined;
  /** Rises when the field should be focused. */
  focusRequests: number;
  /** What the newest of these requests puts into the field. */
  requestedText?: string;
  /** Gives the run that has it, or null where it was not sent. */
  onSend: (text: string) => Promise<string | null>;
  onStop: () => void;
}

/** Where one writes. Enter sends, but not while an input method composes; what was typed is kept. */
export function Composer(props: ComposerProps) {
  const { runId, running, pending, blocked, onSend, onStop } = props;
  const t = useTranslations('conversation');
  const hint = useId();
  const reason = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  const { text, setText, wasSent } = useDraft(runId, field);
  useRequestedText(props, (more) => setText(text === '' ? more : `${text}\n${more}`));
  useGrowingField(field, text, props.focusRequests);
  const canSend = text.trim() !== '' && !props.stopping && !pending && blocked === undefined;

  const send = async () => {
    if (!canSend) return;
    const sentIn = await onSend(text.trim());
    if (sentIn !== null) wasSent(text, sentIn);
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
      {pending && <TabWait />}
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
        placeholder={t(running ? 'placeholderRunning' : 'placeholder')}
        enterKeyHint="send"
        // Drafts are kept here; what the browser restores would look like typing.
        autoComplete="off"
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

/** Once for each request; those of before this field was there are done. */
function useRequestedText(
  { focusRequests, requestedText = '' }: ComposerProps,
  put: (text: string) => void,
): void {
  const done = useRef(focusRequests);
  useEffect(() => {
    if (done.current === focusRequests) return;
    done.current = focusRequests;
    if (requestedText !== '') put(requestedText);
  });
}

type Field = RefObject<HTMLTextAreaElement | null>;

interface Draft {
  readonly text: string;
  setText(text: string): void;
  /** What was sent leaves the draft; what was typed meanwhile goes on in the run that has it. */
  wasSent(text: string, runId: string): void;
}

/**
 * The draft of the run that is shown; each run has its own. The server draws the field first,
 * empty, and a person may type into it before this code is there: that goes on from the draft.
 */
function useDraft(runId: string | null, field: Field): Draft {
  const [draft, setDraft] = useState({ runId, text: '' });
  const shown = useRef(draft);
  const show = useCallback((of: string | null, text: string) => {
    shown.current = { runId: of, text };
    setDraft(shown.current);
    writeDraft(of, text);
  }, []);
  const isFirst = useRef(true);
  // Before the browser can deliver another key; the value is React's from the next drawing on.
  useLayoutEffect(() => {
    const typed = isFirst.current ? (field.current?.value ?? '') : '';
    isFirst.current = false;
    const kept = readDraft(runId);
    show(runId, typed === '' || typed === kept ? kept : kept === '' ? typed : `${kept}\n${typed}`);
  }, [runId, field, show]);
  const textOf = (of: string | null) =>
    shown.current.runId === of ? shown.current.text : readDraft(of);
  const setTextOf = (of: string | null, text: string) =>
    shown.current.runId === of ? show(of, text) : writeDraft(of, text);
  return {
    text: draft.runId === runId ? draft.text : '',
    setText: (text) => show(runId, text),
    wasSent: (sent, of) => {
      const now = textOf(runId);
      const rest = now.startsWith(sent) ? now.slice(sent.length).trimStart() : now;
      setTextOf(runId, '');
      setTextOf(of, rest + textOf(of));
    },
  };
}

/** As high as its text, up to its greatest height. */
function useGrowingField(field: Field, text: string, focusRequests: number): void {
  useLayoutEffect(() => {
    const element = field.current;
    if (!element || element.value !== text) return;
    element.style.height = 'auto';
    element.style.height = `${element.scrollHeight + 2}px`;
  }, [field, text]);
  useEffect(() => {
    if (focusRequests > 0) field.current?.focus();
  }, [field, focusRequests]);
}

const keyOf = (runId: string | null): string => `callboard:draft:${runId ?? 'new'}`;

/** A draft is kept over reloads and over signing in again. */
const readDraft = (runId: string | null): string => tabMemory.read(keyOf(runId)) ?? '';

const writeDraft = (runId: string | null, text: string): void =>
  tabMemory.write(keyOf(runId), text === '' ? null : text);
