'use client';

import { useTranslations } from 'next-intl';
import { useState } from 'react';
import type { ApiFailure } from '#lib/api/api-result';
import type { ApprovalListing } from '#lib/protocol/watch-messages';
import { useFormatFailure } from '../failure/format-failure.ts';
import { useApi, useHasRole } from '../providers/workbench-context.tsx';
import { DenyForm } from '../tool-call/deny-form.tsx';
import { Button } from '../ui/button.tsx';

interface Progress {
  readonly done: number;
  readonly count: number;
  readonly failed: readonly ApiFailure[];
}

interface DenyShownProps {
  /** What of it waits. */
  shown: readonly ApprovalListing[];
  /** It has its place although fewer wait: a list that is held does not move (IB11). */
  keepsPlace: boolean;
}

/** Denies what is shown, one by one, after one confirmation and with one reason (IB9). */
export function DenyShown({ shown, keepsPlace }: DenyShownProps) {
  const t = useTranslations('approvals.denyShown');
  const api = useApi();
  const mayDecide = useHasRole('operator');
  /** What was shown when it was asked: what comes later is not denied with it. */
  const [asked, setAsked] = useState<readonly ApprovalListing[] | null>(null);
  const [progress, setProgress] = useState<Progress | null>(null);
  const isSending = progress !== null && progress.done < progress.count;
  const deny = async (requests: readonly ApprovalListing[], note: string) => {
    const failed: ApiFailure[] = [];
    for (const [done, { tool_call_id }] of requests.entries()) {
      setProgress({ done, count: requests.length, failed: [...failed] });
      const input = { decision: 'no' as const, ...(note && { note }) };
      const answer = await api.decideApproval(tool_call_id, input);
      if (!answer.ok) failed.push(answer);
    }
    setProgress({ done: requests.length, count: requests.length, failed });
    setAsked(null);
  };
  if (!mayDecide) return null;
  return (
    <div className="mb-4">
      {asked === null && (keepsPlace || shown.length > 1) && (
        <Button
          variant="danger"
          size="sm"
          disabled={shown.length === 0}
          onClick={() => setAsked(shown)}
        >
          {t('open', { count: shown.length })}
        </Button>
      )}
      {asked !== null && (
        <DenyForm
          callId={null}
          action={t('confirm', { count: asked.length })}
          isSending={isSending}
          onDeny={(note) => void deny(asked, note)}
          onBack={() => setAsked(null)}
        />
      )}
      <DenyProgress progress={progress} />
    </div>
  );
}

function DenyProgress({ progress }: { progress: Progress | null }) {
  const t = useTranslations('approvals.denyShown');
  const formatFailure = useFormatFailure();
  const failures = [...new Set(progress?.failed.map(formatFailure))];
  return (
    <>
      <p role="status" className="mt-1 text-xs text-muted" data-testid="deny-progress">
        {progress && t('progress', { done: progress.done, count: progress.count })}
      </p>
      {progress && failures.length > 0 && (
        <div role="alert" className="text-xs text-error">
          <p>{t('failed', { count: progress.failed.length })}</p>
          <ul className="list-disc pl-4">
            {failures.map((words) => (
              <li key={words}>{words}</li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
}
