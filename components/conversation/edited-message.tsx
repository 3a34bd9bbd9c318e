'use client';

import { useTranslations } from 'next-intl';
import { type KeyboardEvent, useState } from 'react';
import { Button } from '../ui/button.tsx';

export interface EditedMessageProps {
  text: string;
  onSend: (text: string) => void;
  onCancel: () => void;
}

/** A message of a person while it is edited. Ctrl or ⌘ and Enter sends it, Escape leaves it as it was. */
export function EditedMessage({ text, onSend, onCancel }: EditedMessageProps) {
  const t = useTranslations('conversation.edit');
  const [edited, setEdited] = useState(text);
  const isEmpty = edited.trim() === '';
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Escape') onCancel();
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !isEmpty) onSend(edited);
  };
  return (
    <div className="ml-auto w-[85%] space-y-2">
      <textarea
        aria-label={t('field')}
        // biome-ignore lint/a11y/noAutofocus: The person has just asked to write here.
        autoFocus
        value={edited}
        onChange={(event) => setEdited(event.currentTarget.value)}
        onKeyDown={onKeyDown}
        className="max-h-60 min-h-20 w-full rounded-[10px] border border-line bg-surface px-3 py-2"
      />
      <p className="text-xs text-muted">{t('hint')}</p>
      <div className="flex justify-end gap-2">
        <Button size="sm" onClick={onCancel}>
          {t('cancel')}
        </Button>
        <Button size="sm" disabled={isEmpty} onClick={() => onSend(edited)}>
          {t('send')}
        </Button>
      </div>
    </div>
  );
}
