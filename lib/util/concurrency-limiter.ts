interface Lane {
  limit: number;
  readonly running: Set<string>;
  readonly waiting: Set<string>;
}

/**
 * Limits how many calls of one tool run at once (CL9): each tool has a lane from its first call on,
 * and calls, given by id alone, wait in the order in which they came.
 */
export function createConcurrencyLimiter() {
  const lanes = new Map<string, Lane>();
  const laneOf = new Map<string, string>();

  return {
    /** True: the call may run now, until `release`. False: it waits. */
    acquire(tool: string, id: string, limit: number): boolean {
      const lane = lanes.get(tool) ?? { limit, running: new Set(), waiting: new Set() };
      lane.limit = Math.max(1, limit);
      lanes.set(tool, lane);
      laneOf.set(id, tool);
      const now = lane.running.has(id) || lane.running.size < lane.limit;
      (now ? lane.running : lane.waiting).add(id);
      return now;
    },
    /** Gives back the place of a call that runs or waits; returns the calls that may run now. */
    release(id: string): string[] {
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
