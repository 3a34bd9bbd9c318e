'use client';

import { useTranslations } from 'next-intl';
import { useId, useState } from 'react';
import { Button } from '#components/ui/button';
import { parseArguments } from '#lib/format/parse-arguments';

export interface ArgumentsEditorProps {
  params: Record<string, unknown>;
  isSending: boolean;
  onAllow: (args: Record<string, unknown>) => void;
  onBack: () => void;
}

/** Other arguments than the agent's, as JSON, before a call is allowed. */
export function ArgumentsEditor(props: ArgumentsEditorProps) {
  const t = useTranslations('card');
  const [text, setText] = useState(() => JSON.stringify(props.params, null, 2));
  const problemId = useId();
  const parsed = parseArguments(text);
  const problem = parsed.ok
    ? null
    : parsed.problem === 'not_object'
      ? t('approval.notObject')
      : t('approval.notJson', { problem: parsed.message });
  return (
    <div className="mt-2">
      <textarea
        aria-label={t('approval.arguments')}
        aria-invalid={problem !== null}
        aria-describedby={problem === null ? undefined : problemId}
        spellCheck={false}
        rows={Math.min(12, text.split('\n').length + 1)}
        value={text}
        onChange={(event) => setText(event.target.value)}
        className="field mono w-full"
      />
      {problem !== null && (
        <p id={problemId} role="alert" className="mt-1 text-xs text-error">
          {problem}
        </p>
      )}
      <div className="mt-2 flex flex-wrap gap-2">
        <Button
          variant="primary"
          disabled={!parsed.ok || props.isSending}
          onClick={() => parsed.ok && props.onAllow(parsed.args)}
        >
          {t('approval.allowEdited')}
        </Button>
        <Button disabled={props.isSending} onClick={props.onBack}>
          {t('approval.back')}
        </Button>
      </div>
    </div>
  );
}
