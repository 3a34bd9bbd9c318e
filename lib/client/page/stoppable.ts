import { abortable } from '../../util/abortable.ts';
import type { ClientToolDefinition } from '../client-tool.ts';
import { ToolFailure } from '../tool-failure.ts';
import type { BadgeCall } from './badge.ts';
import type { Execute } from './page-tool.ts';

/** For the caller, who reads it as the reason why the call was cancelled. */
const STOPPED = 'The person at this page stopped it.';

/**
 * A tool's work that the person at the page sees and can end. A stop ends the call at once, also
 * where the tool does not heed its signal: what it does after that changes nothing (PG7).
 */
export function stoppable(
  { name, displayName }: Pick<ClientToolDefinition, 'name' | 'displayName'>,
  execute: Execute,
  show: (call: Omit<BadgeCall, 'server'>) => () => void,
): ClientToolDefinition['run'] {
  return async (args, context) => {
    const stopped = new AbortController();
    const signal = AbortSignal.any([context.signal, stopped.signal]);
    const hide = show({
      tool: displayName ?? name,
      caller: context.requestedBy,
      stop: () => stopped.abort(new ToolFailure('cancelled', STOPPED)),
    });
    try {
      // In a function of its own, so that what it throws at once is a rejection as well.
      const work = (async () => execute({ ...args }, { ...context, signal }))();
      const output = await abortable(stopped.signal, work);
      return { output: output === undefined ? null : output };
    } finally {
      hide();
    }
  };
}
