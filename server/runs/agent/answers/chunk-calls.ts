import { isRecord } from '#lib/json/is-record';
import { NAMELESS } from '../find-tool.ts';
import { JsonExtent } from '../text-calls/json-extent.ts';
import { argumentText, countOf, type Fields, nameOf, textOf } from './fields.ts';

interface ChunkCall {
  readonly index: number;
  id: string | undefined;
  name: string | undefined;
  /** What Google's server wants back with it. */
  readonly extra: unknown;
  /** Arguments that came before the name. */
  held: string;
  readonly extent: JsonExtent;
  /** Its arguments have had their last bracket. */
  isWhole: boolean;
}

/** What is set behind an id that an earlier call of the answer has. */
export const SAME_ID = /~\d+$/;

/**
 * The pieces of calls of the chat API. A piece belongs to a call by its place, its id or its name,
 * whichever of them a server gives. A call goes out once its name is there, at the end as `NAMELESS`
 * (AL104): the SDK would drop it or fail at it.
 */
export class ChunkCalls {
  readonly #calls: ChunkCall[] = [];
  readonly #byPlace = new Map<number, ChunkCall>();

  get hasAny(): boolean {
    return this.#calls.length > 0;
  }

  /** What goes to the SDK in place of the piece. */
  take(piece: unknown): object[] {
    if (!isRecord(piece)) return [];
    const given = isRecord(piece.function) ? piece.function : piece;
    const name = nameOf(given.name);
    const args = argumentText(given.arguments);
    const place = countOf(piece.index);
    const call = this.#find(place, textOf(piece.id), name, args) ?? this.#begin(piece);
    if (place !== undefined) this.#byPlace.set(place, call);
    for (let at = 0; at < args.length && !call.isWhole; at += 1) {
      call.isWhole = call.extent.take(args.charAt(at)) === 'closed';
    }
    call.id ??= textOf(piece.id);
    const isNamed = call.name !== undefined;
    call.name ??= name;
    if (isNamed) return [{ index: call.index, function: { arguments: args } }];
    call.held += args;
    return call.name === undefined ? [] : [started(call, call.name)];
  }

  /** The answer is over: no name comes any more. */
  release(): object[] {
    const nameless = this.#calls.filter(({ name }) => name === undefined);
    return nameless.map((call) => started(call, NAMELESS));
  }

  #find(
    place: number | undefined,
    id: string | undefined,
    name: string | undefined,
    args: string,
  ): ChunkCall | undefined {
    const byId = id === undefined ? undefined : this.#calls.findLast((call) => call.id === id);
    const last = byId ?? this.#calls.at(-1);
    const current = place === undefined ? last : this.#byPlace.get(place);
    if (!current || name === undefined || current.name === undefined) return current;
    // Some servers give all calls one place, or none; others repeat the name, or change the id, in each piece.
    const isBlank = args.trim() === '';
    const isOtherId = id !== undefined && current.id !== undefined && id !== current.id;
    const isOther = isOtherId && (isBlank || args.trimStart().startsWith('{'));
    const isOtherName = place === undefined && id === undefined && name !== current.name;
    return isOther || isOtherName || (current.isWhole && !isBlank) ? undefined : current;
  }

  #begin(piece: Fields): ChunkCall {
    const id = textOf(piece.id);
    const index = this.#calls.length;
    const isTaken = id !== undefined && this.#calls.some((call) => call.id === id);
    const call: ChunkCall = {
      ...{ index, id: isTaken ? `${id}~${index}` : id, name: undefined, held: '' },
      ...{ extra: piece.extra_content, extent: new JsonExtent(), isWhole: false },
    };
    this.#calls.push(call);
    return call;
  }
}

function started({ index, id, extra, held }: ChunkCall, name: string): object {
  const google = isRecord(extra) && isRecord(extra.google) ? extra.google : {};
  const thought_signature = textOf(google.thought_signature);
  return {
    ...{ index, id, type: 'function', function: { name, arguments: held } },
    ...(thought_signature !== undefined && { extra_content: { google: { thought_signature } } }),
  };
}
