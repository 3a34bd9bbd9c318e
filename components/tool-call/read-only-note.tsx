'use client';

import Link from 'next/link';
import { useTranslations } from 'next-intl';
import type { Card } from '#lib/protocol/card';
import { useCall, useLevelOfRun, useTool } from '../providers/workbench-context.tsx';

/** Whether the server would refuse a yes: the autonomy is read only, and the tool has effects (AN3). */
export function useIsReadOnly(callId: string, card: Card): boolean {
  const level = useLevelOfRun(useCall(callId)?.runId ?? '');
  const tool = useTool(card.tool_name);
  return level === 'read_only' && tool !== undefined && tool.annotations?.readOnlyHint !== true;
}

/** Why a call cannot be allowed now, and where that is switched. */
export function ReadOnlyNote({ id }: { id: string }) {
  const t = useTranslations('shell.autonomy');
  return (
    <p id={id} className="mt-1 text-xs text-wait" data-testid="read-only-note">
      {t('readOnly')}{' '}
      <Link href="/settings/policy" className="underline underline-offset-2">
        {t('toPolicy')}
      </Link>
    </p>
  );
}
