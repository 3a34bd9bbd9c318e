import type { CallRecord } from '#lib/call/call-record';
import type { CardUpdate } from '#lib/protocol/card';
import type { Principal } from '../auth/principal.ts';
import type { Clock } from '../clock.ts';
import type { OfferedTool } from '../tools/tool-registry.ts';
import { type AdvanceExtras, advance } from './advance.ts';
import type { Check } from './check.ts';
import type { Dispatcher } from './dispatcher.ts';
import { shownClient } from './offered-tool.ts';
import { scopeOf } from './route-call.ts';

export interface Placed {
  readonly record: CallRecord;
  readonly updates: readonly CardUpdate[];
  /** To be called once the record is on disk. */
  after(): void;
}

type Fields = NonNullable<AdvanceExtras['fields']>;

/** `tool` is the one whose schema the arguments were checked against; it would be asked now. */
export type Place = (
  record: CallRecord,
  principal: Principal,
  tool: OfferedTool,
  fields?: Fields,
) => Placed;

export interface Placement {
  /** The policy's word on a call whose arguments are complete, and its first step towards an executor. */
  readonly place: Place;
  /**
   * A person's yes and what follows from it. When what the person was shown has
   * changed, the call waits for another yes. Undefined when it does not wait for one.
   */
  approve(record: CallRecord, fields: Fields): Placed | undefined;
  /** From now on its run may call this tool of this client without being asked. Forgotten when the server stops. */
  allowAlways(record: CallRecord): void;
}

/** Of those a person said "always" to; the oldest are asked again. */
const MOST_ALWAYS = 1_000;

/** The seam between what is asked and what is done; one write holds all of it. */
export function createPlacement(deps: {
  check: Check;
  dispatcher: Pick<Dispatcher, 'place'>;
  clock: Clock;
  facts(instanceId: string): { readonly name: string } | undefined;
}): Placement {
  const always = new Set<string>();

  const place: Place = (record, principal, tool, fields = {}) => {
    const { runId, toolName } = record;
    const args = fields.args ?? record.args;
    const verdict = deps.check({ principal, toolName, args, runId });
    if (verdict.verdict === 'deny') {
      const error = { code: 'denied' as const, message: verdict.reason, executed: 'no' as const };
      return step(record, { type: 'refused', error }, fields);
    }
    if (verdict.verdict === 'allow') return queue(record, fields);
    const routing = { ...(fields.routing ?? record.routing), approval: scopeOf(tool) };
    const bound = { ...fields, routing };
    if (always.has(alwaysKey({ runId, toolName, routing }))) return queue(record, bound);
    return step(record, { type: 'arguments_complete', check: 'ask' }, bound, {
      approval_reason: verdict.reason,
      ...(verdict.code === undefined ? {} : { approval_reason_code: verdict.code }),
      ...shownClient(tool, deps.facts),
    });
  };

  function queue(record: CallRecord, fields: Fields): Placed {
    return placed(step(record, { type: 'arguments_complete', check: 'allow' }, fields));
  }

  function placed(queued: Placed): Placed {
    const next = deps.dispatcher.place(queued.record);
    return { ...next, updates: [...queued.updates, ...next.updates] };
  }

  function step(
    record: CallRecord,
    event: Parameters<typeof advance>[1],
    fields: Fields,
    update: CardUpdate = {},
  ): Placed {
    const moved = advance(record, event, deps.clock.now(), { fields, update });
    if (!moved.ok) throw new Error(`A call in ${record.phase} cannot be placed: ${moved.refusal}`);
    return { record: moved.record, updates: [moved.update], after() {} };
  }

  return {
    place,
    approve(record, fields) {
      if (record.phase !== 'approval') return undefined;
      return placed(step(record, { type: 'approved' }, fields));
    },
    allowAlways(record) {
      always.add(alwaysKey(record));
      const [oldest] = always;
      if (always.size > MOST_ALWAYS && oldest !== undefined) always.delete(oldest);
    },
  };
}

const alwaysKey = (record: Pick<CallRecord, 'runId' | 'toolName' | 'routing'>): string =>
  JSON.stringify([record.runId, record.toolName, record.routing.approval]);
