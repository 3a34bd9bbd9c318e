import { useTranslations } from 'next-intl';
import { useState } from 'react';
import type { AutonomyLevel } from '#lib/policy/autonomy';
import { useFailureToast } from '../../failure/format-failure.ts';
import { useAnnounce, useWorkbench } from '../../providers/workbench-context.tsx';
import { usePolicyApi } from './use-policy-api.ts';

/** Null takes away a run's own level. Resolves to whether it was set. */
export type SetLevel = (level: AutonomyLevel | null, runId?: string) => Promise<boolean>;

/** Switches the autonomy of all runs, or of one; the whole page has the answer at once. */
export function useSetAutonomy() {
  const t = useTranslations('settings.policy.autonomy');
  const api = usePolicyApi();
  const known = useWorkbench().autonomy;
  const announce = useAnnounce();
  const showFailure = useFailureToast();
  const [isSending, setSending] = useState(false);
  const set: SetLevel = async (level, runId) => {
    if (isSending) return false;
    setSending(true);
    const before = known.getState();
    const answer = await api.setAutonomy(level, runId);
    setSending(false);
    if (!answer.ok) {
      showFailure(t('notSet'), answer);
      return false;
    }
    // An event that came meanwhile may be newer than the answer: then it is asked for.
    if (known.getState() === before) known.setState({ autonomy: answer.value });
    else known.getState().replace();
    announce(level === null ? t('takenAway') : t('set', { level: t(`level.${level}`) }));
    return true;
  };
  return { set, isSending };
}
