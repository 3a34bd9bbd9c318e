import {
  type ClientToolAnswer,
  type ClientToolContext,
  type ClientToolDefinition,
  ToolFailure,
} from '#lib/client/client-tool';
import { abortable } from '#lib/util/abortable';
import { type DeviceStore, ruleOf, type Use } from './device-store.ts';

/** For the caller, who reads it as the reason why the call was cancelled. */
const STOPPED = 'The person at this device stopped it.';

export interface Gate {
  readonly store: DeviceStore;
  isVisible(): boolean;
  now(): number;
}

/** The tool behind the rule that the person at this device has set for it. */
export function gateTool(tool: ClientToolDefinition, gate: Gate): ClientToolDefinition {
  return {
    ...tool,
    async run(args, context) {
      const at = gate.now();
      const note = (outcome: Use['outcome']) => {
        const { callId, requestedBy } = context;
        const ms = Math.max(0, gate.now() - at);
        gate.store.getState().noteUse({ callId, tool: tool.name, requestedBy, at, ms, outcome });
      };
      try {
        await admit(tool.name, args, context, gate);
        const answer = await runStoppable(tool, args, context, gate.store);
        note('done');
        return answer;
      } catch (thrown) {
        note(outcomeOf(thrown, context.signal));
        throw thrown;
      }
    },
  };
}

/** A stop by the person here ends the call at once, also where the tool does not heed its signal. */
async function runStoppable(
  tool: ClientToolDefinition,
  args: Parameters<ClientToolDefinition['run']>[0],
  context: ClientToolContext,
  { getState }: DeviceStore,
): Promise<ClientToolAnswer> {
  const stopped = new AbortController();
  const signal = AbortSignal.any([context.signal, stopped.signal]);
  const { callId, requestedBy } = context;
  const hide = getState().show({
    callId,
    tool: tool.name,
    requestedBy,
    stop: () => stopped.abort(new ToolFailure('cancelled', STOPPED)),
  });
  try {
    const work = (async () => tool.run(args, { ...context, signal }))();
    return await abortable(stopped.signal, work);
  } finally {
    hide();
  }
}

async function admit(
  tool: string,
  args: Readonly<Record<string, unknown>>,
  context: ClientToolContext,
  { store, isVisible }: Gate,
): Promise<void> {
  const { rules, ask } = store.getState();
  const rule = ruleOf(rules, tool);
  // A call may have been on its way when the person switched it off.
  if (rule === 'off') throw declined('has switched this tool off');
  if (rule === 'open' && isVisible()) return;
  const { callId, requestedBy, signal } = context;
  const isHiddenRule = rule === 'open';
  const { isAllowed, reason } = await context.askDevice(() =>
    ask({ callId, tool, requestedBy, args, isHiddenRule, signal }),
  );
  signal.throwIfAborted();
  if (!isAllowed) throw declined(reason === '' ? 'declined' : `declined: ${reason}`);
}

const declined = (what: string) =>
  new ToolFailure('declined', `The person at this device ${what}.`);

function outcomeOf(thrown: unknown, signal: AbortSignal): Use['outcome'] {
  if (signal.aborted) return 'cancelled';
  const code = thrown instanceof ToolFailure ? thrown.code : undefined;
  return code === 'declined' || code === 'cancelled' ? code : 'failed';
}
