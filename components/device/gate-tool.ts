import type { ClientToolContext, ClientToolDefinition } from '#lib/client/client-tool';
import { ToolFailure } from '#lib/client/tool-failure';
import { type DeviceStore, ruleOf, type Use } from './device-store.ts';

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
        const answer = await tool.run(args, context);
        note('done');
        return answer;
      } catch (thrown) {
        note(outcomeOf(thrown, context.signal));
        throw thrown;
      }
    },
  };
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
  return thrown instanceof ToolFailure && thrown.code === 'declined' ? 'declined' : 'failed';
}
