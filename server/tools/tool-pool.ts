import { parseAskingClient } from '#lib/protocol/asking-client';
import type { AvailabilityOf, ClientTool } from './tool-provider.ts';

interface Member {
  readonly tool: ClientTool;
  /** The first to come of equally available ones is asked first. */
  readonly place: number;
  readonly availability: ReturnType<AvailabilityOf>;
}

/**
 * The clients that offer one name, kept in the order in which they are asked (contract, section 5;
 * rule TR7): only the one that was named; else first those that answer and deliver, of these the one
 * whose person asks, then visible ones, then the one that a person touched last; last those that do
 * not answer. Costs a few comparisons per change and none per look-up (rule TR17), however
 * many clients offer the name: only who changed is put into its place anew.
 */
export class ToolPool {
  readonly name: string;
  readonly #availability: AvailabilityOf;
  readonly #members = new Map<string, Member>();
  /** In the order of asking, in which no two are equal; without those that came since it was read. */
  readonly #inOrder: Member[] = [];
  readonly #stale = new Set<string>();
  #places = 0;

  constructor(name: string, availability: AvailabilityOf) {
    this.name = name;
    this.#availability = availability;
  }

  get size(): number {
    return this.#members.size;
  }

  put(tool: ClientTool): void {
    const { instanceId } = tool;
    const { place = this.#places++ } = this.#members.get(instanceId) ?? {};
    this.remove(instanceId);
    const availability = this.#availability(instanceId, this.name);
    this.#members.set(instanceId, { tool, place, availability });
    this.#stale.add(instanceId);
  }

  /** False when the instance does not offer it. */
  remove(instanceId: string): boolean {
    const member = this.#members.get(instanceId);
    if (!member) return false;
    this.#takeOut(member);
    this.#stale.delete(instanceId);
    return this.#members.delete(instanceId);
  }

  /** Its availability may have changed: it gets another place when the pool is read next. */
  refresh(instanceId: string): void {
    if (this.#members.has(instanceId)) this.#stale.add(instanceId);
  }

  /** The first in the order for `from`, of all or of the client `named`. */
  best(named: string | undefined, from: string | null): ClientTool | undefined {
    if (named === undefined && from === null) {
      this.#settle();
      return this.#inOrder[0]?.tool;
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
    this.#settle();
    const asking = parseAskingClient(from);
    const own = this.#of(named ?? asking?.clientId);
    // Several instances of a client, such as tabs, begin with the one in which the person asks.
    const isAsking = ({ tool }: Member) =>
      tool.clientId === asking?.clientId && tool.instanceId === asking.instanceId;
    const ownInOrder = ownFirst(own, own.filter(isAsking));
    const order = named === undefined ? ownFirst(this.#inOrder, [...ownInOrder]) : ownInOrder;
    for (const { tool } of order) {
      if (schemaHash === undefined || tool.schemaHash === schemaHash) yield tool;
    }
  }

  #of(clientId: string | undefined): readonly Member[] {
    if (clientId === undefined) return [];
    return this.#inOrder.filter(({ tool }) => tool.clientId === clientId);
  }

  /** Puts those that are stale in by their availability now; the place among equals stays. */
  #settle(): void {
    for (const instanceId of this.#stale) {
      const before = this.#members.get(instanceId);
      if (!before) continue;
      this.#takeOut(before);
      const member = { ...before, availability: this.#availability(instanceId, this.name) };
      this.#members.set(instanceId, member);
      this.#inOrder.splice(this.#indexOf(member), 0, member);
    }
    this.#stale.clear();
  }

  /** It compares as it did when it was put in. */
  #takeOut(member: Member): void {
    const index = this.#indexOf(member);
    if (this.#inOrder[index] === member) this.#inOrder.splice(index, 1);
  }

  /** Where it stands, or would stand: a change compares a few, however many there are. */
  #indexOf(member: Member): number {
    let [low, high] = [0, this.#inOrder.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#inOrder[middle];
      if (other && inOrderOfAsking(other, member) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** The order of those whose person does not ask: below zero when `a` is asked before `b`. */
const inOrderOfAsking = (a: Member, b: Member): number =>
  firstOf(a, b, ({ availability }) => availability.responsive) ||
  firstOf(a, b, canBeAsked) ||
  firstOf(a, b, ({ availability }) => availability.visible) ||
  b.availability.lastTouchedAt - a.availability.lastTouchedAt ||
  a.place - b.place;

/**
 * `sorted`, but those among them that are the asking's `own` come before the others
 * that can be asked, or cannot, as they. Read no further than it is needed.
 */
function* ownFirst(sorted: Iterable<Member>, own: readonly Member[]): Generator<Member> {
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

const canBeAsked = ({ availability }: Member): boolean =>
  availability.responsive && !availability.openCircuit;

const firstOf = (a: Member, b: Member, has: (one: Member) => boolean): number =>
  Number(has(b)) - Number(has(a));
