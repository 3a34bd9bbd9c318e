import { parseAskingClient } from '#lib/protocol/asking-client';
import type {
  AvailabilityOf,
  ClientAvailability,
  ClientTool,
  OpenCircuit,
} from './tool-provider.ts';

/** Members in the order of asking, in which no two are equal. A change compares a few, however many there are. */
class SortedMembers {
  readonly #inOrder: Member[] = [];

  get first(): Member | undefined {
    return this.#inOrder[0];
  }

  add(member: Member): void {
    this.#inOrder.splice(this.#placeOf(member), 0, member);
  }

  /** It compares as it did when it was added. */
  delete(member: Member): void {
    const place = this.#placeOf(member);
    if (this.#inOrder[place] === member) this.#inOrder.splice(place, 1);
  }

  [Symbol.iterator](): Iterator<Member> {
    return this.#inOrder.values();
  }

  #placeOf(member: Member): number {
    return firstIndex(this.#inOrder, (one) => inOrderOfAsking(one, member) < 0);
  }
}

/** Finds the first item of a list for which `isBefore` is false; it is false of those after it, too. */
function firstIndex<T>(list: readonly T[], isBefore: (item: T) => boolean): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = list[middle];
    if (item !== undefined && isBefore(item)) low = middle + 1;
    else high = middle;
  }
  return low;
}

interface Member extends Offering {
  readonly tool: ClientTool;
  readonly instanceId: string;
  /** The first to come of equally available ones is asked first. */
  readonly place: number;
}

/**
 * The clients that offer one name, kept in the order in which they are asked (contract, section 5;
 * rule TR7): only the one that was named; else first those that answer and deliver, of these the one
 * whose person asks, then visible ones, then the one that a person touched last; last those that do
 * not answer. Costs a few comparisons per change and none per look-up (rule TR17), however
 * many clients offer the name: only who changed is put into its place anew.
 */
export class ToolPool {
  readonly #name: string;
  readonly #availability: AvailabilityOf;
  readonly #members = new Map<string, Member>();
  readonly #byClient = new Map<string, Set<string>>();
  readonly #sorted = new SortedMembers();
  readonly #bySchema = new Map<string, SortedMembers>();
  readonly #stale = new Set<string>();
  #places = 0;

  constructor(name: string, availability: AvailabilityOf) {
    this.#name = name;
    this.#availability = availability;
  }

  get size(): number {
    return this.#members.size;
  }

  put(tool: ClientTool): void {
    const { instanceId, clientId } = tool;
    const { place = this.#places++ } = this.#members.get(instanceId) ?? {};
    this.remove(instanceId);
    const availability = this.#availability(instanceId, this.#name);
    this.#members.set(instanceId, { tool, instanceId, clientId, place, availability });
    this.#byClient.set(clientId, (this.#byClient.get(clientId) ?? new Set()).add(instanceId));
    this.#stale.add(instanceId);
  }

  /** False when the instance does not offer it. */
  remove(instanceId: string): boolean {
    const member = this.#members.get(instanceId);
    if (!member) return false;
    this.#takeOut(member);
    this.#members.delete(instanceId);
    this.#stale.delete(instanceId);
    const own = this.#byClient.get(member.clientId);
    own?.delete(instanceId);
    if (own?.size === 0) this.#byClient.delete(member.clientId);
    return true;
  }

  /** Its availability may have changed: it gets another place when the pool is read next. */
  refresh(instanceId: string): void {
    if (this.#members.has(instanceId)) this.#stale.add(instanceId);
  }

  /** The first in the order for `from`, of all or of the client `named`. */
  best(named: string | undefined, from: string | null): ClientTool | undefined {
    if (named === undefined && from === null) {
      this.#settleAll();
      return this.#sorted.first?.tool;
    }
    const [best] = this.inOrder(named, from);
    return best;
  }

  /**
   * All, or only the client `named`, or only those with this schema, in the order for `from`.
   * To be read at once, as far as it is needed.
   */
  *inOrder(
    named: string | undefined,
    from: string | null,
    schemaHash?: string,
  ): Iterable<ClientTool> {
    this.#settleAll();
    const fits = ({ tool }: Member) => schemaHash === undefined || tool.schemaHash === schemaHash;
    const of = (clientId: string) => this.#membersOf(clientId).filter(fits);
    const list = schemaHash === undefined ? this.#sorted : (this.#bySchema.get(schemaHash) ?? []);
    const asking = parseAskingClient(from);
    // Several instances of a client, such as tabs, begin with the one in which the person asks.
    const inOrderOf = (clientId: string) => {
      const sorted = of(clientId).sort(byAvailability);
      const isAsking = (one: Member) =>
        one.clientId === asking?.clientId && one.instanceId === asking.instanceId;
      return [...ownFirst(sorted, sorted.filter(isAsking))];
    };
    const order =
      named === undefined
        ? ownFirst(list, asking === null ? [] : inOrderOf(asking.clientId))
        : inOrderOf(named);
    for (const { tool } of order) yield tool;
  }

  /** Takes it out of the lists that it is in: it compares there as it did when it was put in. */
  #takeOut(member: Member): void {
    const { schemaHash } = member.tool;
    const alike = this.#bySchema.get(schemaHash);
    this.#sorted.delete(member);
    alike?.delete(member);
    if (alike && !alike.first) this.#bySchema.delete(schemaHash);
  }

  #settleAll(): void {
    if (this.#stale.size === 0) return;
    for (const instanceId of this.#stale) this.#settle(instanceId);
    this.#stale.clear();
  }

  /** Puts it in by its availability now; its place among equals stays. */
  #settle(instanceId: string): void {
    const before = this.#members.get(instanceId);
    if (!before) return;
    this.#takeOut(before);
    const member = { ...before, availability: this.#availability(instanceId, this.#name) };
    this.#members.set(instanceId, member);
    const { schemaHash } = member.tool;
    const alike = this.#bySchema.get(schemaHash) ?? new SortedMembers();
    this.#bySchema.set(schemaHash, alike);
    this.#sorted.add(member);
    alike.add(member);
  }

  #membersOf(clientId: string): Member[] {
    const ids = [...(this.#byClient.get(clientId) ?? [])];
    return ids.flatMap((id) => this.#members.get(id) ?? []).sort(inPlaceOrder);
  }
}

const inPlaceOrder = (a: Member, b: Member): number => a.place - b.place;

const inOrderOfAsking = (a: Member, b: Member): number =>
  byAvailability(a, b) || inPlaceOrder(a, b);

/** One client that offers a tool, and its availability. */
export interface Offering {
  readonly clientId: string;
  readonly availability: ClientAvailability & { readonly openCircuit: OpenCircuit | undefined };
}

/** The order of those whose person does not ask: below zero when `a` is asked before `b`. */
const byAvailability = (a: Offering, b: Offering): number =>
  firstOf(a, b, ({ availability }) => availability.responsive) ||
  firstOf(a, b, canBeAsked) ||
  firstOf(a, b, ({ availability }) => availability.visible) ||
  b.availability.lastTouchedAt - a.availability.lastTouchedAt;

/**
 * `sorted`, but those among them that are the asking's `own` come before the others
 * that can be asked, or cannot, as they. Read no further than it is needed.
 */
function* ownFirst<T extends Offering>(sorted: Iterable<T>, own: readonly T[]): Generator<T> {
  yield* own.filter(canBeAsked);
  let rest = own.filter((one) => !canBeAsked(one));
  for (const one of sorted) {
    if (rest.length > 0 && !canBeAsked(one)) {
      yield* rest;
      rest = [];
    }
    if (!own.includes(one)) yield one;
  }
}

const canBeAsked = ({ availability }: Offering): boolean =>
  availability.responsive && !availability.openCircuit;

const firstOf = (a: Offering, b: Offering, has: (one: Offering) => boolean): number =>
  Number(has(b)) - Number(has(a));
