import { z } from 'zod';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { KeptArea, type Store } from '../store/room.ts';

const keptTaskSchema = z.object({
  call: z.string(),
  server: z.string(),
  /** What the server calls the tool. */
  foreign: z.string(),
  task_id: z.string(),
  poll_ms: z.number().optional(),
});
export type KeptTask = z.infer<typeof keptTaskSchema>;

/** The tasks that servers answered calls with, over restarts: as long as the call is open. */
export class KeptTasks {
  readonly #area: KeptArea<KeptTask>;
  readonly #logger: Logger;
  readonly #byCall = new Map<string, KeptTask>();

  constructor(deps: { store: Pick<Store, 'write' | 'listKept'>; clock: Clock; logger: Logger }) {
    const { store, clock } = deps;
    this.#logger = deps.logger;
    this.#area = new KeptArea({ store, area: 'mcp_task', schema: keptTaskSchema, now: clock.now });
  }

  /** Those of servers that are not configured any more are forgotten. */
  async load(ids: ReadonlySet<string>): Promise<void> {
    for (const { value } of await this.#area.load()) {
      this.#byCall.set(value.call, value);
      if (!ids.has(value.server)) this.forget(value.call);
    }
  }

  ofCall(call: string, server: string): KeptTask | undefined {
    const task = this.#byCall.get(call);
    return task?.server === server ? task : undefined;
  }

  ofServer(server: string): readonly KeptTask[] {
    return [...this.#byCall.values()].filter((task) => task.server === server);
  }

  /** Resolves when it is on disk. */
  async put(task: KeptTask): Promise<void> {
    await this.#area.change([{ key: task.call, value: task }]);
    this.#byCall.set(task.call, task);
  }

  /** The end of the call is on disk. */
  forget(call: string): void {
    if (!this.#byCall.delete(call)) return;
    this.#area.change([{ key: call }]).catch(this.#logger.error);
  }
}
