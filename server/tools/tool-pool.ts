import { askingOrder, byAvailability, type Offering, ownFirst } from './asking-order.ts';
import { SortedList } from './sorted-list.ts';
import type { AvailabilityOf, ClientTool } from './tool-registry.ts';

interface Member extends Offering {
  readonly tool: ClientTool;
  readonly instanceId: string;
  /** Of equally available ones, the first to come is asked first. */
  readonly place: number;
}

/** The clients that offer one name, kept in the order in which they are asked. */
export interface ToolPool {
  put(tool: ClientTool): void;
  /** False when the instance does not offer it. */
  remove(instanceId: string): boolean;
  /** Its availability may have changed: it gets another place when the pool is read next. */
  refresh(instanceId: string): void;
  readonly size: number;
  /**
   * All, or only the client `named`, or only those with this schema, in the order for `from`.
   * To be read at once, as far as it is needed.
   */
  inOrder(
    named: string | undefined,
    from: string | null,
    schemaHash?: string,
  ): Iterable<ClientTool>;
}

/**
 * Costs a few comparisons per change and none per look-up (rule TR17), however
 * many clients offer the name: only who changed is put into its place anew.
 */
export function createToolPool(name: string, availability: AvailabilityOf): ToolPool {
  const members = new Map<string, Member>();
  const byClient = new Map<string, Set<string>>();
  const sorted = new SortedList(inOrderOfAsking);
  const bySchema = new Map<string, SortedList<Member>>();
  const stale = new Set<string>();
  let places = 0;

  /** Of the lists, where it is in them: it compares there as it did when it was put in. */
  function takeOut(member: Member): void {
    const { schemaHash } = member.tool;
    const alike = bySchema.get(schemaHash);
    sorted.delete(member);
    alike?.delete(member);
    if (alike?.isEmpty) bySchema.delete(schemaHash);
  }

  function remove(instanceId: string): boolean {
    const member = members.get(instanceId);
    if (!member) return false;
    takeOut(member);
    members.delete(instanceId);
    stale.delete(instanceId);
    const own = byClient.get(member.clientId);
    own?.delete(instanceId);
    if (own?.size === 0) byClient.delete(member.clientId);
    return true;
  }

  /** With its availability now; its place among equals stays. */
  function settle(instanceId: string): void {
    const before = members.get(instanceId);
    if (!before) return;
    takeOut(before);
    const member = { ...before, availability: availability(instanceId, name) };
    members.set(instanceId, member);
    const { schemaHash } = member.tool;
    const alike = bySchema.get(schemaHash) ?? new SortedList(inOrderOfAsking);
    bySchema.set(schemaHash, alike);
    sorted.add(member);
    alike.add(member);
  }

  const membersOf = (clientId: string): Member[] =>
    [...(byClient.get(clientId) ?? [])].flatMap((id) => members.get(id) ?? []).sort(inPlaceOrder);

  return {
    put(tool) {
      const { instanceId, clientId } = tool;
      const { place = places++ } = members.get(instanceId) ?? {};
      remove(instanceId);
      members.set(instanceId, {
        tool,
        instanceId,
        clientId,
        place,
        availability: availability(instanceId, name),
      });
      byClient.set(clientId, (byClient.get(clientId) ?? new Set()).add(instanceId));
      stale.add(instanceId);
    },
    remove,
    refresh(instanceId) {
      if (members.has(instanceId)) stale.add(instanceId);
    },
    get size() {
      return members.size;
    },
    *inOrder(named, from, schemaHash) {
      for (const instanceId of stale) settle(instanceId);
      stale.clear();
      const fits = ({ tool }: Member) => schemaHash === undefined || tool.schemaHash === schemaHash;
      const list = schemaHash === undefined ? sorted : (bySchema.get(schemaHash) ?? []);
      const order =
        named === undefined
          ? ownFirst(list, from === null ? [] : askingOrder(membersOf(from).filter(fits), ALL))
          : askingOrder(membersOf(named).filter(fits), { named, from });
      for (const { tool } of order) yield tool;
    },
  };
}

const ALL = { named: undefined, from: null };

const inPlaceOrder = (a: Member, b: Member): number => a.place - b.place;

const inOrderOfAsking = (a: Member, b: Member): number =>
  byAvailability(a, b) || inPlaceOrder(a, b);
