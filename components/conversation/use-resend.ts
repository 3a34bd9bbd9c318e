import { useRef, useState } from 'react';
import type { ApiFailure } from '#lib/api/api-result';
import { given } from '#lib/util/given';
import { useChosenModel, useWorkbench } from '../providers/workbench-context.tsx';

export interface Resending {
  /**
   * Sends in the place of a message of a person, and of all that came after; without `text` the
   * message as it was, without `model` to the chosen one. Resolves to whether the server has it.
   */
  resend(messageId: string, changes?: { text?: string; model?: string }): Promise<boolean>;
  readonly failure: ApiFailure | null;
}

/** Answers that are asked for again, and messages that were edited. */
export function useResend(runId: string): Resending {
  const { api, runs, models } = useWorkbench();
  const chosen = useChosenModel() ?? undefined;
  const isSending = useRef(false);
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const resend: Resending['resend'] = async (replaces, { text, model = chosen } = {}) => {
    if (isSending.current) return false;
    isSending.current = true;
    setFailure(null);
    const body = { replaces, ...given({ input: text, model }), ...models.getState().settings };
    const answer = await api.sendMessage(runId, body);
    isSending.current = false;
    if (answer.ok) runs.getState().load(answer.value);
    else setFailure(answer);
    return answer.ok;
  };
  return { resend, failure };
}
