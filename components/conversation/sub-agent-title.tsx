'use client';

import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { hashOfCall } from '#lib/call/call-address';
import type { RunParent } from '#lib/protocol/run';
import { useRun } from '../providers/workbench-context.tsx';
import { MarkedText } from '../ui/marked-text.tsx';
import { useFetchedRun } from './use-fetched-run.ts';

/** Whose work a sub-agent's run is, with the way to the call that it works for. */
export function SubAgentTitle({
  parent: { run_id: runId, call_id, agent },
}: {
  parent: RunParent;
}) {
  const t = useTranslations('conversation');
  const above = useRun(runId);
  useFetchedRun(runId);
  return t.rich('subAgent.title', {
    name: agent,
    above: () => (
      <Link
        href={`/?run=${encodeURIComponent(runId)}${hashOfCall(call_id)}`}
        className="underline underline-offset-2"
      >
        <MarkedText text={above?.title || t('untitled')} />
      </Link>
    ),
  });
}
