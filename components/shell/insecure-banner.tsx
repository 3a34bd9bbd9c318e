'use client';

import { TriangleAlert } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { useCallback, useState } from 'react';
import type { ApiResult } from '#lib/api/api-result';
import type { Reach } from '#lib/protocol/reach';
import { useAnswer } from '../failure/use-answer.ts';
import { useApi } from '../providers/workbench-context.tsx';
import { Button } from '../ui/button.tsx';

/** Where the server is open to a network without TLS: who can read along, and what does not work there. */
export function InsecureBanner() {
  const t = useTranslations('shell.insecure');
  const [isHidden, setHidden] = useState(false);
  const { request } = useApi();
  const ask = useCallback(
    (): Promise<ApiResult<Reach>> => request({ method: 'GET', path: '/v1/reach' }),
    [request],
  );
  const answer = useAnswer(ask);
  // Without an answer the state of the connection is shown above.
  if (!answer?.ok || !answer.value.plaintext || isHidden) return null;
  const address = answer.value.addresses.find(({ from }) => from === 'network')?.origin ?? '';
  return (
    <section
      aria-labelledby="insecure-title"
      className="flex flex-wrap items-start gap-x-3 gap-y-2 border-b border-line bg-errorbg px-4 py-2 text-sm"
    >
      <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-error" />
      <div role="alert" className="min-w-0 flex-1 basis-64 wrap-anywhere">
        <p id="insecure-title" className="font-semibold text-error">
          {t('title')}
        </p>
        <p>{t('text', { address })}</p>
      </div>
      <Button size="sm" onClick={() => setHidden(true)}>
        {t('hide')}
      </Button>
    </section>
  );
}
