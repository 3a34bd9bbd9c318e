import { askingOrder, byStanding, type Offering, ownFirst } from './asking-order.ts';
import type { ClientTool, Standing } from './tool-registry.ts';

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
  restand(instanceId: string): void;
  readonly size: number;
  /** All, or only the client `named`, in the order for `from`. To be read at once, as far as it is needed. */
  inOrder(named: string | undefined, from: string | null): Iterable<ClientTool>;
}

/**
 * Costs a few comparisons per change and none per look-up (rule TR17), however
 * many clients offer the name: only who changed is put into its place anew.
 */
export function createToolPool(name: string, standing: Standing): ToolPool {
  const members = new Map<string, Member>();
  const byClient = new Map<string, Set<string>>();
  const sorted: Member[] = [];
  const stale = new Set<string>();
  let places = 0;

  function remove(instanceId: string): boolean {
    const member = members.get(instanceId);
    if (!member) return false;
    const at = sorted.indexOf(member);
    if (at >= 0) sorted.splice(at, 1);
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
    const at = sorted.indexOf(before);
    if (at >= 0) sorted.splice(at, 1);
    const member = { ...before, standing: standing(instanceId, name) };
    members.set(instanceId, member);
    sorted.splice(placeAmong(sorted, member), 0, member);
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
        standing: standing(instanceId, name),
      });
      byClient.set(clientId, (byClient.get(clientId) ?? new Set()).add(instanceId));
      stale.add(instanceId);
    },
    remove,
    restand(instanceId) {
      if (members.has(instanceId)) stale.add(instanceId);
    },
    get size() {
      return members.size;
    },
    *inOrder(named, from) {
      for (const instanceId of stale) settle(instanceId);
      stale.clear();
      const order =
        named === undefined
          ? ownFirst(sorted, from === null ? [] : askingOrder(membersOf(from), ALL))
          : askingOrder(membersOf(named), { named, from });
      for (const { tool } of order) yield tool;
    },
  };
}

const ALL = { named: undefined, from: null };

const inPlaceOrder = (a: Member, b: Member): number => a.place - b.place;

/** Where it belongs in a sorted list. */
function placeAmong(sorted: readonly Member[], member: Member): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = sorted[middle];
    const isBefore = other && (byStanding(other, member) || inPlaceOrder(other, member)) < 0;
    if (isBefore) low = middle + 1;
    else high = middle;
  }
  return low;
}
