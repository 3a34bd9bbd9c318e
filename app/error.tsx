'use client';

import { useTranslations } from 'next-intl';
import { useEffect } from 'react';
import { Button } from '#components/ui/button';
import { reloadOutdated } from '../components/providers/reload-outdated.ts';

interface ErrorPageProps {
  error: Error & { digest?: string };
  reset: () => void;
}

export default function ErrorPage({ error, reset }: ErrorPageProps) {
  const t = useTranslations('errors');
  const common = useTranslations('common');
  // The code of a page that was opened before an upgrade may be gone.
  useEffect(() => void reloadOutdated(), []);
  return (
    <div role="alert" className="mx-auto flex max-w-md flex-col items-start gap-3 px-4 py-16">
      <h1 className="text-lg font-bold">{t('crashTitle')}</h1>
      <p className="text-muted">{t('crashText')}</p>
      <Button variant="primary" onClick={reset}>
        {common('again')}
      </Button>
      <details className="w-full">
        <summary className="min-h-6">{t('details')}</summary>
        <pre className="mono overflow-x-auto rounded-lg bg-surface2 p-2 text-error">
          {error.digest ?? error.message}
        </pre>
      </details>
    </div>
  );
}
