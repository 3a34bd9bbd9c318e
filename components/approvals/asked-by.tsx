'use client';

import Link from 'next/link';
import { useLocale, useTranslations } from 'next-intl';
import { hashOfCall } from '#lib/call/call-address';
import { formatRelativeTime } from '#lib/format/format-relative-time';
import type { ApprovalListing } from '#lib/protocol/watch-messages';
import { useCall, useRun, useTitle } from '../providers/workbench-context.tsx';
import { MarkedText } from '../ui/marked-text.tsx';
import { useOrigin } from './use-origin.ts';

/** Who asks, for whom, since when, and the way to the conversation, by its title (IB10). */
export function AskedBy({ request, now }: { request: ApprovalListing; now: number }) {
  const t = useTranslations('approvals');
  const locale = useLocale();
  const { tool_call_id: callId, requested_by: caller = '' } = request;
  const { runId, agents } = useOrigin(callId, request.run_id);
  const run = useRun(runId);
  const title = useTitle(runId);
  const at = useCall(callId)?.card.created_at;
  const ago = at === undefined ? '' : formatRelativeTime(at * 1_000, now, locale);
  const owner = run?.owner?.name;
  const who = (() => {
    if (!caller.startsWith('run:')) return caller;
    const agent = agents.join(' > ');
    if (agent === '') return owner === undefined ? t('agent') : t('agentOf', { owner });
    return owner === undefined ? t('subAgent', { agent }) : t('subAgentOf', { agent, owner });
  })();
  return (
    <p className="mb-1 text-xs text-muted wrap-anywhere" data-testid="asked-by">
      <MarkedText text={t('from', { caller: who, ago })} />{' '}
      <Link
        href={`/?run=${encodeURIComponent(runId)}${hashOfCall(callId)}`}
        title={runId}
        className="underline underline-offset-2"
      >
        <MarkedText text={t('inRun', { run: title ?? runId })} />
      </Link>
    </p>
  );
}
