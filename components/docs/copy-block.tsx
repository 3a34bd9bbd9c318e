'use client';

import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { ScrollRegion } from '#components/result/scroll-region';
import { Button } from '#components/ui/button';
import { copyText } from '../tool-call/copy-text.ts';

type Copying = 'idle' | 'copied' | 'failed';

/** Text for the shell, with a button that copies it. */
export function CopyBlock({ label, text }: { label: string; text: string }) {
  const t = useTranslations('docs');
  const [copying, setCopying] = useState<Copying>('idle');
  const words = { idle: '', copied: t('copied'), failed: t('copyFailed') };
  return (
    <div className="mt-3">
      <div className="flex items-center justify-between gap-2">
        <span className="font-semibold text-sm">{t('example')}</span>
        <span role="status" className="ml-auto text-muted text-sm">
          {words[copying]}
        </span>
        <Button
          size="sm"
          aria-label={`${t('copy')}: ${label}`}
          onClick={async () => setCopying((await copyText(text)) ? 'copied' : 'failed')}
        >
          {t('copy')}
        </Button>
      </div>
      <ScrollRegion label={label} className="mt-1 rounded border border-line bg-bg">
        <pre className="mono p-3">
          <code>{text}</code>
        </pre>
      </ScrollRegion>
    </div>
  );
}
