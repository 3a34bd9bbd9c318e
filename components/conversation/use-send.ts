'use client';

import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { ApiFailure } from '#lib/api/api-result';
import { given } from '#lib/util/given';
import { useChosenModel, useConnection, useWorkbench } from '../providers/workbench-context.tsx';
import { useSelectedRun } from './use-selected-run.ts';

export interface Sending {
  /**
   * Gives the run that has it once the server has; what was typed must stay until then. Null where
   * it failed, and while another message is on its way.
   */
  send(text: string): Promise<string | null>;
  readonly pending: boolean;
  readonly failure: ApiFailure | null;
}

/** Sends a message to the run that is shown, or starts one with it. */
export function useSend(): Sending {
  const { api, runs, models } = useWorkbench();
  const [runId, select] = useSelectedRun();
  const model = useChosenModel() ?? undefined;
  const [pending, setPending] = useState(false);
  const isSending = useRef(false);
  const shown = useRef(runId);
  useLayoutEffect(() => {
    shown.current = runId;
  }, [runId]);
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const isConnected = useConnection().feed.kind === 'connected';
  // The server is back: what was typed is in the field still, and can be sent.
  useEffect(() => {
    if (isConnected) setFailure((now) => (now?.status === 0 ? null : now));
  }, [isConnected]);

  const send = async (text: string): Promise<string | null> => {
    if (isSending.current) return null;
    isSending.current = true;
    const body = { input: text, ...given({ model }), ...models.getState().settings };
    setPending(true);
    setFailure(null);
    const answer = runId === null ? await api.startRun(body) : await api.sendMessage(runId, body);
    isSending.current = false;
    setPending(false);
    if (!answer.ok) {
      setFailure(answer);
      return null;
    }
    runs.getState().load(answer.value);
    // Unless the person has gone to another conversation meanwhile.
    if (runId === null && shown.current === null) select(answer.value.run_id);
    return answer.value.run_id;
  };
  return { send, pending, failure };
}
