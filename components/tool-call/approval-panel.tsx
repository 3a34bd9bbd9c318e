'use client';

import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { Button } from '#components/ui/button';
import type { ApprovalInput } from '#lib/api/http-client';
import { jsonPreview } from '#lib/format/json-preview';
import { showControlCharacters } from '#lib/format/show-control-characters';
import { ScrollRegion } from '../result/scroll-region.tsx';
import { ArgumentsEditor } from './arguments-editor.tsx';

export interface ApprovalPanelProps {
  params: Record<string, unknown>;
  /** Resolves to whether the decision was taken. */
  onDecide: (input: ApprovalInput) => Promise<boolean>;
}

/**
 * A person's decision on a call, with the arguments in the open. It never takes
 * the focus: an approval must not be given by a key press meant for something else.
 */
export function ApprovalPanel({ params, onDecide }: ApprovalPanelProps) {
  const t = useTranslations('card');
  const [isSending, setSending] = useState(false);
  const [isEditing, setEditing] = useState(false);

  const decide = async (input: ApprovalInput) => {
    setSending(true);
    const taken = await onDecide(input);
    // Taken: the card changes by the watch feed, and a second click must not come between.
    if (!taken) setSending(false);
  };

  if (isEditing) {
    return (
      <ArgumentsEditor
        params={params}
        isSending={isSending}
        onAllow={(args) => decide({ decision: 'yes', args })}
        onBack={() => setEditing(false)}
      />
    );
  }
  return (
    <>
      <ScrollRegion
        label={t('approval.arguments')}
        className="mt-2 max-h-60 rounded-md bg-surface2"
      >
        <pre className="mono whitespace-pre-wrap px-2 py-1.5 wrap-anywhere">
          {argumentWords(params)}
        </pre>
      </ScrollRegion>
      <div className="mt-2 flex flex-wrap gap-2">
        <Button
          variant="primary"
          disabled={isSending}
          onClick={() => decide({ decision: 'yes' })}
          data-approval="yes"
        >
          {t('approval.allow')}
        </Button>
        <Button disabled={isSending} onClick={() => decide({ decision: 'always' })}>
          {t('approval.always')}
        </Button>
        <Button disabled={isSending} onClick={() => setEditing(true)}>
          {t('approval.edit')}
        </Button>
        <Button
          variant="danger"
          disabled={isSending}
          onClick={() => decide({ decision: 'no' })}
          data-approval="no"
        >
          {t('approval.deny')}
        </Button>
      </div>
    </>
  );
}

/** Short arguments on one line, longer ones a line each. */
const ONE_LINE_CHARS = 90;

function argumentWords(params: Record<string, unknown>): string {
  const line = jsonPreview(params, ONE_LINE_CHARS + 1);
  return line.length <= ONE_LINE_CHARS
    ? line
    : showControlCharacters(JSON.stringify(params, null, 2), { keepLayout: true });
}
