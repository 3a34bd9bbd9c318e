import type { CardUpdate } from '#lib/protocol/card';
import type { Principal } from '../auth/principal.ts';
import type { Clock } from '../clock.ts';
import type { CallRecord } from '../store/call-record.ts';
import { type AdvanceExtras, advance } from './advance.ts';
import type { Check } from './check.ts';
import type { Dispatcher } from './dispatcher.ts';

export interface Placed {
  readonly record: CallRecord;
  readonly updates: readonly CardUpdate[];
  /** To be called once the record is on disk. */
  after(): void;
}

export type Place = (
  record: CallRecord,
  principal: Principal,
  fields?: NonNullable<AdvanceExtras['fields']>,
) => Placed;

export interface Placement {
  /** The policy's word on a call whose arguments are complete, and its first step towards an executor. */
  readonly place: Place;
  /** From now on this run may call this tool without being asked. Forgotten when the server stops. */
  allowAlways(runId: string, toolName: string): void;
}

/** The seam between what is asked and what is done; one write holds all of it. */
export function createPlacement(deps: {
  check: Check;
  dispatcher: Pick<Dispatcher, 'place'>;
  clock: Clock;
}): Placement {
  const always = new Set<string>();

  const place: Place = (record, principal, fields = {}) => {
    const { runId, toolName } = record;
    const args = fields.args ?? record.args;
    const verdict = deps.check({ principal, toolName, args, runId });
    if (verdict.verdict === 'deny') {
      const error = { code: 'denied' as const, message: verdict.reason, executed: 'no' as const };
      return step(record, { type: 'refused', error }, fields);
    }
    if (verdict.verdict === 'ask' && !always.has(`${runId}\n${toolName}`)) {
      const reason = {
        approval_reason: verdict.reason,
        ...(verdict.code === undefined ? {} : { approval_reason_code: verdict.code }),
      };
      return step(record, { type: 'arguments_complete', check: 'ask' }, fields, reason);
    }
    const queued = step(record, { type: 'arguments_complete', check: 'allow' }, fields);
    const placed = deps.dispatcher.place(queued.record);
    return { ...placed, updates: [...queued.updates, ...placed.updates] };
  };

  function step(
    record: CallRecord,
    event: Parameters<typeof advance>[1],
    fields: NonNullable<AdvanceExtras['fields']>,
    update: CardUpdate = {},
  ): Placed {
    const moved = advance(record, event, deps.clock.now(), { fields, update });
    if (!moved.ok) throw new Error(`A call in ${record.phase} cannot be placed: ${moved.refusal}`);
    return { record: moved.record, updates: [moved.update], after() {} };
  }

  return { place, allowAlways: (runId, toolName) => void always.add(`${runId}\n${toolName}`) };
}
