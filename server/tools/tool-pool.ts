import { parseAskingClient } from '#lib/protocol/asking-client';
import { askingOrder, byAvailability, type Offering, ownFirst } from './asking-order.ts';
import { SortedList } from './sorted-list.ts';
import type { AvailabilityOf, ClientTool } from './tool-registry.ts';

interface Member extends Offering {
  readonly tool: ClientTool;
  readonly instanceId: string;
  /** Of equally available ones, the first to come is asked first. */
  readonly place: number;
}

/**
 * The clients that offer one name, kept in the order in which they are asked.
 * Costs a few comparisons per change and none per look-up (rule TR17), however
 * many clients offer the name: only who changed is put into its place anew.
 */
export class ToolPool {
  readonly #name: string;
  readonly #availability: AvailabilityOf;
  readonly #members = new Map<string, Member>();
  readonly #byClient = new Map<string, Set<string>>();
  readonly #sorted = new SortedList(inOrderOfAsking);
  readonly #bySchema = new Map<string, SortedList<Member>>();
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

  /**
   * All, or only the client `named`, or only those with this schema, in the order for `from`.
   * To be read at once, as far as it is needed.
   */
  *inOrder(
    named: string | undefined,
    from: string | null,
    schemaHash?: string,
  ): Iterable<ClientTool> {
    for (const instanceId of this.#stale) this.#settle(instanceId);
    this.#stale.clear();
    const fits = ({ tool }: Member) => schemaHash === undefined || tool.schemaHash === schemaHash;
    const of = (clientId: string) => this.#membersOf(clientId).filter(fits);
    const list = schemaHash === undefined ? this.#sorted : (this.#bySchema.get(schemaHash) ?? []);
    const asking = parseAskingClient(from);
    // Of several instances of a client, such as tabs, the one in which the person asks.
    const inOrderOf = (clientId: string) => {
      const sorted = askingOrder(of(clientId), ALL);
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

  /** Of the lists, where it is in them: it compares there as it did when it was put in. */
  #takeOut(member: Member): void {
    const { schemaHash } = member.tool;
    const alike = this.#bySchema.get(schemaHash);
    this.#sorted.delete(member);
    alike?.delete(member);
    if (alike?.isEmpty) this.#bySchema.delete(schemaHash);
  }

  /** With its availability now; its place among equals stays. */
  #settle(instanceId: string): void {
    const before = this.#members.get(instanceId);
    if (!before) return;
    this.#takeOut(before);
    const member = { ...before, availability: this.#availability(instanceId, this.#name) };
    this.#members.set(instanceId, member);
    const { schemaHash } = member.tool;
    const alike = this.#bySchema.get(schemaHash) ?? new SortedList(inOrderOfAsking);
    this.#bySchema.set(schemaHash, alike);
    this.#sorted.add(member);
    alike.add(member);
  }

  #membersOf(clientId: string): Member[] {
    const ids = [...(this.#byClient.get(clientId) ?? [])];
    return ids.flatMap((id) => this.#members.get(id) ?? []).sort(inPlaceOrder);
  }
}

const ALL = { named: undefined, from: null };

const inPlaceOrder = (a: Member, b: Member): number => a.place - b.place;

const inOrderOfAsking = (a: Member, b: Member): number =>
  byAvailability(a, b) || inPlaceOrder(a, b);
