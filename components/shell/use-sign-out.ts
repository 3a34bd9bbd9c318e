'use client';

import { useTranslations } from 'next-intl';
import { useFailureToast } from '../failure/format-failure.ts';
import { forgetSessionKey } from '../providers/page-session.ts';
import { forgetPushChoice } from '../providers/push-choice.ts';
import { useWorkbench } from '../providers/workbench-context.tsx';

/** Ends this session at the server, which closes its sockets, and leaves for the sign-in page. */
export function useSignOut(): () => Promise<void> {
  const { api, connection } = useWorkbench();
  const t = useTranslations('shell');
  const showFailure = useFailureToast();
  return async () => {
    // The server closes the sockets before it answers: that must not lead away as well.
    connection.setState({ signingOut: true });
    const answer = await api.signOut();
    if (answer.ok || answer.status === 401) {
      forgetSessionKey();
      // The server sends this browser nothing more; who signs in next chooses anew.
      forgetPushChoice();
      location.assign('/sign-in');
      return;
    }
    connection.setState({ signingOut: false });
    showFailure(t('signOutFailed'), answer);
  };
}
