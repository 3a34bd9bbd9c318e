'use client';

import { useTranslations } from 'next-intl';
import { useCalls, useOlderCalls, useRunPages } from '../providers/workbench-context.tsx';

/** In place of messages: how many calls an outside agent has made in the run, as far as they are here. */
export function OutsideRun({ runId }: { runId: string }) {
  const t = useTranslations('conversation.outside');
  const olderById = useOlderCalls((state) => state.byId);
  const older = useOlderCalls((state) => state.order);
  const live = useCalls(({ byId, order }) => {
    const before = older.filter((id) => !Object.hasOwn(byId, id));
    const isOfRun = (all: typeof byId) => (id: string) => all[id]?.runId === runId;
    return before.filter(isOfRun(olderById)).length + order.filter(isOfRun(byId)).length;
  });
  const isWhole = useRunPages(runId)?.cursor === null;
  return (
    <div className="space-y-1" data-testid="outside-run">
      <p className="font-medium">{t(isWhole ? 'calls' : 'callsAtLeast', { count: live })}</p>
      <p className="text-muted">{t('text')}</p>
    </div>
  );
}
