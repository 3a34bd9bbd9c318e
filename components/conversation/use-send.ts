'use client';

import { useState } from 'react';
import type { ApiFailure } from '#lib/api/api-result';
import { useChosenModel, useWorkbench } from '../providers/workbench-context.tsx';
import { useSelectedRun } from './use-selected-run.ts';

export interface Sending {
  /** True once the server has it; what was typed must stay until then. */
  send(text: string, model?: string): Promise<boolean>;
  readonly pending: boolean;
  readonly failure: ApiFailure | null;
}

/** Sends a message to the run that is shown, or starts one with it. */
export function useSend(): Sending {
  const { api, runs } = useWorkbench();
  const [runId, select] = useSelectedRun();
  const chosen = useChosenModel();
  const [pending, setPending] = useState(false);
  const [failure, setFailure] = useState<ApiFailure | null>(null);

  const send = async (text: string, model = chosen ?? undefined): Promise<boolean> => {
    const body = { input: text, ...(model === undefined ? {} : { model }) };
    setPending(true);
    setFailure(null);
    const answer = runId === null ? await api.startRun(body) : await api.sendMessage(runId, body);
    setPending(false);
    if (!answer.ok) {
      setFailure(answer);
      return false;
    }
    runs.getState().load(answer.value);
    if (runId === null) select(answer.value.run_id);
    return true;
  };
  return { send, pending, failure };
}
