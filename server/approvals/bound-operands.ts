import type { Call } from '#lib/call/call';
import type { CallEvent, EventFields } from '#lib/call/call-event';
import type { CallError } from '#lib/protocol/call-status';
import type { CardUpdate } from '#lib/protocol/card';
import { withEllipsis } from '#lib/text/with-ellipsis';
import { type OfferedTool, type Operand, ToolError } from '../tools/room.ts';

/** For what a tool looks at before a person is asked. */
const LOOK_MS = 10_000;
/** A card stands among hundreds in a snapshot. */
const MOST_SHOWN = 10;
const NAME_CHARS = 100;
const HASH_CHARS = 12;

/** A yes to the arguments is for this besides them, as it is stored and as a card shows it. */
type Bound =
  | {
      readonly routing: Pick<Call['routing'], 'operands'>;
      readonly shown: Pick<CardUpdate, 'approval_operands'>;
    }
  | { readonly error: CallError };

/** Looks at what the arguments refer to now (CA70); undefined where the tool does not look at it. */
export async function bindOperands(
  look: OfferedTool['operands'],
  args: Call['args'],
): Promise<Bound | undefined> {
  if (!look) return undefined;
  try {
    const operands = await look({ ...args }, AbortSignal.timeout(LOOK_MS));
    return {
      routing: { operands: operands.map(({ path, hash }) => ({ path, hash })) },
      shown: { approval_operands: shownOperands(operands) },
    };
  } catch (error) {
    if (!isForTheCaller(error)) throw error;
    const code = error instanceof ToolError ? error.code : 'tool_error';
    return { error: { code, message: error.message, executed: 'no' } };
  }
}

/** The event's fields, with what is bound of the call that has them. */
export const withOperands = <Fields extends EventFields>(
  fields: Fields,
  before: Call['routing'],
  bound: Pick<Call['routing'], 'operands'>,
) => ({ ...fields, routing: { ...(fields.routing ?? before), ...bound } });

/** The decision on an equal call: of the routing an edit brings what its arguments refer to, the rest is that call's own. */
export function forOther<Event extends CallEvent>(event: Event, { routing }: Call): Event {
  const { routing: edited, ...fields } = event.fields ?? {};
  if (!edited) return event;
  return {
    ...event,
    fields: withOperands(fields, routing, { operands: edited.operands ?? [] }),
  };
}

const isForTheCaller = (error: unknown): error is Error =>
  error instanceof ToolError || (error instanceof Error && error.name === 'TimeoutError');

function shownOperands(operands: readonly Operand[]): CardUpdate['approval_operands'] {
  if (operands.length === 0) return null;
  const first = operands.slice(0, MOST_SHOWN).map(({ name, contentHash }) => ({
    name: withEllipsis(name, NAME_CHARS),
    ...(contentHash !== undefined && { hash: contentHash.slice(0, HASH_CHARS) }),
  }));
  return { first, count: operands.length };
}
