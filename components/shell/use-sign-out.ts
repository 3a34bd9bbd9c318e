'use client';

import { useTranslations } from 'next-intl';
import { useApi } from '../providers/workbench-context.tsx';
import { showErrorToast } from '../ui/toast.tsx';

/** Ends this session at the server, which closes its sockets, and leaves for the sign-in page. */
export function useSignOut(): () => Promise<void> {
  const api = useApi();
  const t = useTranslations('shell');
  return async () => {
    const answer = await api.signOut();
    if (answer.ok || answer.status === 401) location.assign('/sign-in');
    else showErrorToast(t('signOutFailed'), answer.message);
  };
}
