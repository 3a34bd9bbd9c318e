import type { CallEvent, EventFields } from '#lib/call/call-event';
import type { CallRecord } from '#lib/call/call-record';
import type { Principal } from '../auth/principal.ts';
import type { OfferedTool } from '../tools/tool-registry.ts';
import type { AlwaysAllowed } from './always-allowed.ts';
import type { Check } from './check.ts';
import { shownClient } from './offered-tool.ts';
import { scopeOf } from './route-call.ts';

/** The policy's verdict on a call whose arguments are complete, as the event that it makes of it. */
export class Policy {
  readonly #check: Check;
  readonly #facts: (instanceId: string) => { readonly name: string } | undefined;
  readonly #always: Pick<AlwaysAllowed, 'has'>;

  constructor(deps: {
    check: Check;
    always: Pick<AlwaysAllowed, 'has'>;
    facts(instanceId: string): { readonly name: string } | undefined;
  }) {
    this.#check = deps.check;
    this.#always = deps.always;
    this.#facts = deps.facts;
  }

  /** `tool` is the one whose schema the arguments were checked against; it would be asked now. */
  eventFor(
    call: CallRecord,
    principal: Principal,
    tool: OfferedTool,
    fields: EventFields = {},
  ): CallEvent {
    const { runId, toolName } = call;
    const args = fields.args ?? call.args;
    const verdict = this.#check({ principal, toolName, args, runId });
    if (verdict.verdict === 'deny') {
      const error = { code: 'denied' as const, message: verdict.reason, executed: 'no' as const };
      return { type: 'refused', error, fields };
    }
    if (verdict.verdict === 'allow') return { type: 'arguments_complete', check: 'allow', fields };
    const routing = { ...(fields.routing ?? call.routing), approval: scopeOf(tool) };
    const bound = { ...fields, routing };
    if (this.#always.has({ runId, toolName, routing })) {
      return { type: 'arguments_complete', check: 'allow', fields: bound };
    }
    return {
      type: 'arguments_complete',
      check: 'ask',
      fields: bound,
      shown: {
        approval_reason: verdict.reason,
        ...(verdict.code === undefined ? {} : { approval_reason_code: verdict.code }),
        ...shownClient(tool, this.#facts),
      },
    };
  }
}
