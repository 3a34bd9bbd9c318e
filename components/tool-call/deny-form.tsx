'use client';

import { useTranslations } from 'next-intl';
import { useId, useRef, useState } from 'react';
import { Button } from '#components/ui/button';
import { forgetText, unsentOf } from './kept-texts.ts';
import { useFirstFocus } from './use-first-focus.ts';
import { useKeepText } from './use-kept-text.ts';

/** As the server takes it. */
const NOTE_CHARS = 2_000;

interface DenyFormProps {
  /** Null: the reason is for several calls. */
  callId: string | null;
  /** On its button; "Deny" when not given. */
  action?: string;
  isSending: boolean;
  onDeny: (note: string) => void;
  onBack: () => void;
}

/** A no with its reason, which the model is given. */
export function DenyForm({ callId, action, isSending, onDeny, onBack }: DenyFormProps) {
  const t = useTranslations('card.approval');
  const common = useTranslations('common');
  const id = useId();
  const [before] = useState(() => (callId === null ? null : unsentOf(callId, 'reason')));
  const [note, setNote] = useState(before?.text ?? '');
  const form = useRef<HTMLFormElement>(null);
  useFirstFocus(form, 'textarea', before === null);
  useKeepText(callId, form, { of: 'reason', text: note });
  const back = () => {
    if (isSending) return;
    if (callId !== null) forgetText(callId);
    onBack();
  };
  return (
    <form
      ref={form}
      className="mt-2"
      onSubmit={(event) => {
        event.preventDefault();
        onDeny(note.trim());
      }}
    >
      <label htmlFor={id} className="text-xs font-semibold">
        {t('reason')}
      </label>
      <textarea
        id={id}
        rows={2}
        maxLength={NOTE_CHARS}
        value={note}
        onChange={(event) => setNote(event.target.value)}
        onKeyDown={({ key, nativeEvent }) => {
          if (key === 'Escape' && !nativeEvent.isComposing) back();
        }}
        className="field mt-1 w-full"
      />
      <div className="mt-2 flex flex-wrap gap-2">
        <Button type="submit" variant="danger" disabled={isSending} data-decides="">
          {action ?? t('deny')}
        </Button>
        <Button disabled={isSending} onClick={back}>
          {common('back')}
        </Button>
      </div>
    </form>
  );
}
