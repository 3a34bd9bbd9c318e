'use client';

import { CircleCheck } from 'lucide-react';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { useShallow } from 'zustand/react/shallow';
import { hashOfCall } from '#lib/call/call-address';
import type { CreatedToken } from '#lib/protocol/token';
import type { CallsState } from '#lib/stores/fold-calls';
import { useCalls, useUi } from '../providers/workbench-context.tsx';
import { MarkedText } from '../ui/marked-text.tsx';

/** Whether a program that was just let in has called a tool: its first call, as soon as there is one. */
export function FirstCall({ token }: { token: CreatedToken }) {
  const t = useTranslations('settings.connect');
  const show = useUi((state) => state.show);
  const caller = `agent:${token.name}`;
  const [callId, runId = '', tool = ''] = useCalls(
    useShallow((state) => firstCallOf(state, caller, token.created_at ?? 0)),
  );
  return (
    <p role="status" data-testid="first-call" className="flex items-start gap-1.5 text-muted">
      {callId === undefined ? (
        t('next', { name: token.name })
      ) : (
        <>
          <CircleCheck aria-hidden className="mt-0.5 size-4 shrink-0 text-success" />
          <span className="min-w-0 wrap-anywhere">
            <MarkedText text={t('first', { name: token.name, tool })} />{' '}
            <Link
              href={`/?run=${encodeURIComponent(runId)}${hashOfCall(callId)}`}
              // On a phone one panel is shown at a time.
              onClick={() => show('live')}
              className="underline underline-offset-2"
            >
              {t('show')}
            </Link>
          </span>
        </>
      )}
    </p>
  );
}

/** Its id, its run and its tool. A name is free again once its token is revoked: older calls are not of this one. */
function firstCallOf({ byId }: CallsState, caller: string, since: number): readonly string[] {
  const [first] = Object.entries(byId)
    .filter(([, { card }]) => card.requested_by === caller && (card.created_at ?? 0) >= since)
    .sort(([, a], [, b]) => (a.card.created_at ?? 0) - (b.card.created_at ?? 0));
  if (!first) return [];
  const [callId, { runId, card }] = first;
  return [callId, runId, card.tool_name ?? ''];
}
