'use client';

import { useTranslations } from 'next-intl';
import { useEffect, useId, useRef, useState } from 'react';
import type { CreatedToken } from '#lib/protocol/token';
import { copyText } from '../tool-call/copy-text.ts';
import { Button } from '../ui/button.tsx';

export interface NewSecretProps {
  token: CreatedToken;
  onDone: () => void;
}

/** The secret of a token that was just made. This page has it now, and after that only who copied it. */
export function NewSecret({ token, onDone }: NewSecretProps) {
  const t = useTranslations('settings.access');
  const titleId = useId();
  const title = useRef<HTMLHeadingElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const [copying, setCopying] = useState<'copied' | 'notCopied' | null>(null);
  useEffect(() => title.current?.focus(), []);
  const copy = async () => {
    const done = await copyText(token.secret);
    setCopying(done ? 'copied' : 'notCopied');
    if (!done) field.current?.select();
  };
  return (
    <section
      aria-labelledby={titleId}
      className="mt-3 rounded-lg border-2 border-accent bg-surface p-3"
    >
      <h2 ref={title} id={titleId} tabIndex={-1} className="font-bold outline-none wrap-anywhere">
        {t('secret.title', { name: token.name })}
      </h2>
      <p className="mt-1 font-medium">{t('secret.once')}</p>
      <div className="mt-2 flex flex-wrap gap-2">
        <input
          ref={field}
          readOnly
          autoComplete="off"
          value={token.secret}
          aria-label={t('secret.label')}
          onFocus={(event) => event.target.select()}
          className="field mono min-w-0 flex-1 basis-56"
        />
        <Button variant="primary" onClick={() => void copy()}>
          {t('secret.copy')}
        </Button>
        <Button onClick={onDone}>{t('secret.done')}</Button>
      </div>
      <p role="status" className={`mt-1 ${copying === 'notCopied' ? 'text-error' : 'text-muted'}`}>
        {copying && t(`secret.${copying}`)}
      </p>
      <p className="mt-1 text-muted wrap-anywhere">
        {t(token.kind === 'operator' ? 'secret.forPerson' : 'secret.forProgram', {
          address: `${window.location.origin}/sign-in`,
        })}
      </p>
    </section>
  );
}
