import { createHmac, randomBytes } from 'node:crypto';
import type { Call, CallHead } from '#lib/call/call';
import type { CallEvent, EventFields } from '#lib/call/call-event';
import type { NeverStarted } from '#lib/call/call-state';
import { boundCard } from '#lib/call/merge-card';
import { canonicalJson, sameJson } from '#lib/json/equal';
import { isRecord } from '#lib/json/is-record';
import type { CallError } from '#lib/protocol/call-status';
import type { CardUpdate } from '#lib/protocol/card';
import { hasMarker, mapTexts, redacted, redactShapes, valueRedactor } from '#lib/text/redact';
import { type Principal, principalName } from '../auth/room.ts';
import type { OfferedTool, ToolRegistry } from '../tools/room.ts';

/** These are secret whatever the call. */
export interface KnownSecrets {
  /** Takes it out of a text, with what has the form of a token. */
  readonly hide: (text: string) => string;
  /** For hashes that are stored of what may be secret. */
  readonly key: string;
}

type Route = (call: Call, neverStarted: NeverStarted | undefined) => CallEvent | undefined;

type Withholds = Pick<OfferedTool, 'withhold'>;

type Args = Readonly<Record<string, unknown>>;

interface Whole {
  readonly args: Args;
  /** The secrets among them, and among those that they took the place of. */
  readonly texts: readonly string[];
  /** Takes them out. */
  readonly hide: ((text: string) => string) | undefined;
}

const MARK = redacted('argument');

/** No executor can have it any more: what was secret of it is on no disk. */
const LOST: CallError = {
  code: 'interrupted',
  message:
    'The server was started anew, and arguments of this call were secret, which are never stored; make the call again',
  executed: 'no',
};

/**
 * Secrets of calls (rules CW) are taken out before the engine decides, so that no record,
 * event or card ever has it, and put back for who decides on a call and who runs it. Arguments are
 * found again by those that took their place, and are gone with them.
 */
export class Withholding {
  readonly #registry: Pick<ToolRegistry, 'find'>;
  readonly #known: KnownSecrets;
  readonly #whole = new WeakMap<Args, Whole>();

  constructor(
    registry: Pick<ToolRegistry, 'find'>,
    known: KnownSecrets = { hide: redactShapes, key: randomBytes(32).toString('hex') },
  ) {
    this.#registry = registry;
    this.#known = known;
  }

  /** A new call as it may be stored. `tool`: the one that its arguments were checked by, where that is at hand. */
  ofCall(call: Call, tool?: Withholds): Call {
    const args = this.#takeOut(call.args, call, tool);
    if (args === call.args) return call;
    const { params_bytes: _, truncated: __, ...card } = call.card;
    return {
      ...call,
      args,
      routing: { ...call.routing, withheld: true },
      card: { ...card, ...boundCard({ params: { ...args } }) },
    };
  }

  /** An event as it may be stored. `call` is as it is stored. */
  ofEvent(call: Call, event: CallEvent): CallEvent {
    const { fields, ...rest } = event;
    const own = this.#fieldsOf(call, fields);
    const hide = this.hiderOf(own?.args ?? call.args, call.args);
    const { args, routing, ...answer } = own ?? {};
    const hidden = mapTexts(rest, hide);
    const given = mapTexts(answer, hide);
    if (hidden === rest && given === answer && own === fields) return event;
    const kept = { ...given, ...(args && { args }), ...(routing && { routing }) };
    // Built of the event's own parts.
    return { ...hidden, ...(own && { fields: kept }) } as CallEvent;
  }

  /** Gives what people are shown of a call that runs, or that a model is still writing. */
  ofUpdate(call: Call, update: CardUpdate): CardUpdate {
    const shown = this.hidden(call, update);
    if (call.phase !== 'streaming' || !shown.params) return shown;
    const params = this.#toolOf(call)?.withhold?.(shown.params, MARK)?.args;
    return params ? { ...shown, params } : shown;
  }

  /** The call as its executor and its policy get it; what was lost stays marked. */
  restored(call: Call): Call {
    const whole = this.#whole.get(call.args);
    return whole ? { ...call, args: whole.args } : call;
  }

  /**
   * The arguments with which `principal` calls again; undefined where it has to give them anew, as
   * some are secret. A program may use those alone that it wrote itself.
   */
  forRetry(call: Call, principal: Principal, given: unknown): unknown {
    const isPerson = principal.kind === 'operator';
    if (given !== undefined) return this.filled(call, given, isPerson);
    const isEdited = call.card.approval_decision?.edited === true;
    const isOwn = isPerson || (call.requestedBy === principalName(principal) && !isEdited);
    const isKept = call.routing.withheld !== true || (isOwn && !this.isLost(call));
    return isKept ? this.restored(call).args : undefined;
  }

  /** The names of whole arguments of the call that are stored without a secret, or that are one. */
  secretNames(call: Call, args: Args, tool?: Withholds): string[] {
    const kept = this.#takeOut(args, call, tool);
    return Object.keys(args).filter((name) => !sameJson(kept[name], args[name]));
  }

  isLost({ args, routing }: Call): boolean {
    return routing.withheld === true && !this.#whole.has(args);
  }

  /** Finds what brings a call to an executor by its whole arguments. */
  over(router: { readonly next: Route }): Route {
    return (call, neverStarted) => {
      if (call.routing.withheld !== true) return router.next(call, neverStarted);
      if (this.isLost(call)) return lost();
      const whole = this.restored(call);
      const event = router.next(whole, neverStarted);
      if (!event) return undefined;
      const { fields } = event;
      const isSame = fields?.args === whole.args;
      const kept = isSame ? { ...event, fields: { ...fields, args: call.args } } : event;
      // They may have been mended for another schema, or a refusal may quote them.
      return this.ofEvent(call, kept);
    };
  }

  /**
   * Arguments that a person sends back, with what is secret where they left its mark. Undefined when
   * a mark is left over. For a program no mark stands for a secret: it would choose where that goes.
   */
  filled(call: Call, args: unknown, isPerson = true): unknown {
    const whole = (isPerson && this.#whole.get(call.args)?.args) || call.args;
    const full = fill(args, call.args, whole);
    return hasMark(full) ? undefined : full;
  }

  /** In place of the arguments in a hash that is stored: a short secret could be found by its hash. */
  forHash(tool: string, args: unknown): unknown {
    if (!isRecord(args)) return args;
    const target = this.#registry.find(tool);
    const withhold = target?.best.withhold;
    return withhold ? this.#keyed(args) : this.#keyedIfKnown(args);
  }

  /**
   * The same for the hash by which equal calls are one question, which people see. `call` has the
   * whole arguments: calls with different secrets are not equal.
   */
  forQuestion(call: CallHead): unknown {
    const isSecret = call.routing.withheld === true || this.#toolOf(call)?.withhold !== undefined;
    return isSecret ? this.#keyed(call.args) : this.#keyedIfKnown(call.args);
  }

  /** Arguments that are still being written, for a tool that looks at them: no one has allowed it yet. */
  ofPartial(call: Call, args: Args): Args {
    const marked = this.#toolOf(call)?.withhold?.(args, MARK)?.args ?? args;
    return mapTexts(marked, this.#known.hide);
  }

  #keyed(args: Args): string {
    return createHmac('sha256', this.#known.key).update(canonicalJson(args)).digest('hex');
  }

  #keyedIfKnown(args: Args): unknown {
    const { hide } = this.#known;
    return mapTexts(args, hide) !== args ? this.#keyed(args) : args;
  }

  #fieldsOf(call: Call, fields: EventFields | undefined): EventFields | undefined {
    const { args: given, routing = call.routing } = fields ?? {};
    const isNew = given !== undefined && given !== call.args;
    const isBefore = call.routing.withheld === true;
    const args = isNew ? this.#takeOut(given, { ...call, routing }) : given;
    const isWithheld = isNew ? args !== undefined && this.#whole.has(args) : isBefore;
    if (args === given && (routing.withheld === true) === isWithheld) return fields;
    const { withheld: _, ...plain } = routing;
    const marked = isWithheld ? { ...plain, withheld: true as const } : plain;
    return { ...fields, ...(args && { args }), routing: marked };
  }

  /** The same object where nothing of them is secret, or it is out already. */
  #takeOut(args: Args, call: Call, tool?: Withholds): Args {
    if (this.#whole.has(args)) return args;
    const marked = (tool ?? this.#toolOf(call))?.withhold?.(args, MARK);
    const before = this.#whole.get(call.args);
    const first = marked?.args ?? args;
    // The schema that they are mended for may mark less than the one before.
    const second = before?.hide ? mapTexts(first, before.hide) : first;
    const kept = mapTexts(second, this.#known.hide);
    if (kept === args) return args;
    const texts = [...new Set([...(before?.texts ?? []), ...(marked?.texts ?? [])])];
    const secrets = texts.map((value) => ({ kind: 'argument', value }));
    this.#whole.set(kept, { args, texts, hide: valueRedactor(secrets) });
    return kept;
  }

  /** Gives what an executor gave as it may be stored, and as hooks after the call look at it. */
  hidden<Given>(call: Call, value: Given): Given {
    return mapTexts(value, this.hiderOf(call.args));
  }

  /** Takes out of a text what is secret of these arguments, as they are stored. */
  hiderOf(...args: Args[]): (text: string) => string {
    const { hide: known } = this.#known;
    const own = args.flatMap((one) => this.#whole.get(one)?.hide ?? []);
    return own.length === 0 ? known : (text) => known(own.reduce((left, hide) => hide(left), text));
  }

  /** The tool whose schema the arguments were checked against. */
  #toolOf({ toolName, routing }: CallHead) {
    const { checkedForClientId, fromClientId, schemaHash } = routing;
    const reference = checkedForClientId === null ? toolName : `${toolName}@${checkedForClientId}`;
    const target = this.#registry.find(reference, fromClientId);
    const [same] = schemaHash === null || !target ? [] : target.withSchema(schemaHash);
    return same ?? target?.best;
  }
}

export const lost = (): CallEvent => ({ type: 'refused', error: LOST });

/** Where both `given` and `marked` have the same text, that of `whole`. */
function fill(given: unknown, marked: unknown, whole: unknown): unknown {
  if (typeof given === 'string') return given === marked ? whole : given;
  if (Array.isArray(given) && Array.isArray(marked) && Array.isArray(whole)) {
    return given.map((one, at) => fill(one, marked[at], whole[at]));
  }
  if (!isRecord(given) || !isRecord(marked) || !isRecord(whole)) return given;
  return Object.fromEntries(
    Object.entries(given).map(([key, one]) => [key, fill(one, marked[key], whole[key])]),
  );
}

function hasMark(value: unknown): boolean {
  return mapTexts(value, (text) => (hasMarker(text) ? '' : text)) !== value;
}
