/**
 * Who may run now, when a tool runs only so many calls at once (CL9). Calls
 * wait in the order in which they came. It knows calls by id alone.
 */
export interface TurnQueue {
  /** True: its turn is now, until `leave`. False: it waits. */
  enter(tool: string, id: string, limit: number): boolean;
  /** Gives back its turn or its place; returns the calls whose turn has come. */
  leave(id: string): string[];
}

interface Lane {
  limit: number;
  readonly running: Set<string>;
  readonly waiting: Set<string>;
}

/** A queue for every tool, made when the tool is first called. */
export function createTurnQueue(): TurnQueue {
  const lanes = new Map<string, Lane>();
  const laneOf = new Map<string, string>();

  return {
    enter(tool, id, limit) {
      const lane = lanes.get(tool) ?? { limit, running: new Set(), waiting: new Set() };
      lane.limit = Math.max(1, limit);
      lanes.set(tool, lane);
      laneOf.set(id, tool);
      const now = lane.running.has(id) || lane.running.size < lane.limit;
      (now ? lane.running : lane.waiting).add(id);
      return now;
    },
    leave(id) {
      const tool = laneOf.get(id);
      const lane = tool === undefined ? undefined : lanes.get(tool);
      if (tool === undefined || !lane) return [];
      laneOf.delete(id);
      lane.running.delete(id);
      lane.waiting.delete(id);
      const called = callUp(lane);
      if (lane.running.size === 0 && lane.waiting.size === 0) lanes.delete(tool);
      return called;
    },
  };
}

function callUp(lane: Lane): string[] {
  const called: string[] = [];
  for (const id of lane.waiting) {
    if (lane.running.size >= lane.limit) break;
    lane.waiting.delete(id);
    lane.running.add(id);
    called.push(id);
  }
  return called;
}
