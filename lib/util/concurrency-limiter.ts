/**
 * Limits how many calls of one tool run at once (CL9). Calls wait in the order
 * in which they came. They are given by id alone.
 */
export interface ConcurrencyLimiter {
  /** True: the call may run now, until `release`. False: it waits. */
  acquire(tool: string, id: string, limit: number): boolean;
  /** Gives back the place of a call that runs or waits; returns the calls that may run now. */
  release(id: string): string[];
}

interface Lane {
  limit: number;
  readonly running: Set<string>;
  readonly waiting: Set<string>;
}

/** A lane for every tool, made when the tool is first called. */
export function createConcurrencyLimiter(): ConcurrencyLimiter {
  const lanes = new Map<string, Lane>();
  const laneOf = new Map<string, string>();

  return {
    acquire(tool, id, limit) {
      const lane = lanes.get(tool) ?? { limit, running: new Set(), waiting: new Set() };
      lane.limit = Math.max(1, limit);
      lanes.set(tool, lane);
      laneOf.set(id, tool);
      const now = lane.running.has(id) || lane.running.size < lane.limit;
      (now ? lane.running : lane.waiting).add(id);
      return now;
    },
    release(id) {
      const tool = laneOf.get(id);
      const lane = tool === undefined ? undefined : lanes.get(tool);
      if (tool === undefined || !lane) return [];
      laneOf.delete(id);
      lane.running.delete(id);
      lane.waiting.delete(id);
      const admitted = admitWaiting(lane);
      if (lane.running.size === 0 && lane.waiting.size === 0) lanes.delete(tool);
      return admitted;
    },
  };
}

function admitWaiting(lane: Lane): string[] {
  const admitted: string[] = [];
  for (const id of lane.waiting) {
    if (lane.running.size >= lane.limit) break;
    lane.waiting.delete(id);
    lane.running.add(id);
    admitted.push(id);
  }
  return admitted;
}
