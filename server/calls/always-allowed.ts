import { hash } from 'node:crypto';
import { z } from 'zod';
import type { CallRecord } from '#lib/call/call-record';
import type { Clock } from '../clock.ts';
import type { Store } from '../store/store.ts';
import type { AlwaysRule, AlwaysRules } from './call-service.ts';
import { KeptArea } from './kept-area.ts';

/** The oldest are asked again. */
const MOST_RULES = 1_000;

/** Kept under its id. */
const ruleSchema = z.object({
  runId: z.string(),
  toolName: z.string(),
  clientId: z.string().nullable(),
  toolHash: z.string(),
  allowedAt: z.number(),
}) satisfies z.ZodType<Omit<AlwaysRule, 'id'>>;

type AskedCall = Pick<CallRecord, 'runId' | 'toolName' | 'routing'>;

/** The rules that operators made of approvals (CA8). They hold until they are withdrawn, over restarts too. */
export class AlwaysAllowed implements AlwaysRules {
  readonly #kept: KeptArea<z.infer<typeof ruleSchema>>;
  readonly #clock: Clock;
  readonly #rules = new Map<string, AlwaysRule>();

  constructor({ store, clock }: { store: Pick<Store, 'write' | 'listKept'>; clock: Clock }) {
    this.#clock = clock;
    this.#kept = new KeptArea({ store, area: 'always', schema: ruleSchema, now: clock.now });
  }

  /** Takes up what an earlier server kept. Once, before anything is asked. */
  async load(): Promise<void> {
    for (const { key, value } of await this.#kept.load()) {
      this.#rules.set(key, { ...value, id: key });
    }
  }

  has(call: AskedCall): boolean {
    return this.#rules.has(idOf(call));
  }

  /** Holds at once; resolves when it is on disk. */
  async add({ runId, toolName, routing }: AskedCall): Promise<void> {
    const { approval } = routing;
    if (approval === null) return;
    const id = idOf({ runId, toolName, routing });
    const rule = { runId, toolName, ...approval, allowedAt: this.#clock.now() };
    this.#rules.delete(id); // So that it is the newest.
    this.#rules.set(id, { ...rule, id });
    const [oldest] = this.#rules.keys();
    const isFull = this.#rules.size > MOST_RULES && oldest !== undefined;
    if (isFull) this.#rules.delete(oldest);
    await this.#kept.change([{ key: id, value: rule }, ...(isFull ? [{ key: oldest }] : [])]);
  }

  list(): AlwaysRule[] {
    return [...this.#rules.values()];
  }

  async withdraw(id: string): Promise<AlwaysRule | undefined> {
    const rule = this.#rules.get(id);
    if (!rule) return undefined;
    this.#rules.delete(id);
    await this.#kept.change([{ key: id }]);
    return rule;
  }
}

const idOf = ({ runId, toolName, routing }: AskedCall): string =>
  hash('sha256', JSON.stringify([runId, toolName, routing.approval])).slice(0, 32);
