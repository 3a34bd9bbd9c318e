import { z } from 'zod';
import { closedObject } from '#lib/protocol/closed-object';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { Withholding } from '../secrets/room.ts';
import type { Store } from '../store/room.ts';
import type { ToolRegistry } from '../tools/room.ts';
import { AlwaysAllowed } from './always-allowed.ts';
import { AskedLately } from './asked-lately.ts';
import type { CallersOfCalls } from './caller-of-call.ts';
import type { Check, CheckEdit, Denial } from './check.ts';
import { type DecidedCalls, Decisions } from './decisions.ts';
import { OpenApprovals } from './open-approvals.ts';
import { Questions } from './questions.ts';

/** So many questions of a run are shown to people at once, each for so long. */
export const approvalsConfigSchema = closedObject({
  at_once: z.number().int().min(1).max(50).default(5),
  wait_seconds: z.number().int().min(10).max(86_400).default(600),
}).prefault({});

export interface ApprovalsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: ToolRegistry;
  readonly withholding: Withholding;
  readonly policy: {
    readonly check: Check;
    readonly checkEdit: CheckEdit;
    readonly denial: Denial;
  };
  readonly callers: CallersOfCalls;
  /** The run that a person or a program began, of one that may be a sub-agent's. */
  rootOf(runId: string): string;
  facts(instanceId: string): { readonly name: string } | undefined;
  readonly approvals?: z.infer<typeof approvalsConfigSchema> | undefined;
}

/** Asks people about calls, and knows what waits for a decision and what is always allowed. */
export function createApprovals(deps: ApprovalsDeps) {
  const { approvals: config } = deps;
  const lately = new AskedLately(deps);
  const always = new AlwaysAllowed(deps);
  const open = new OpenApprovals({ ...deps, lately, atOnce: config?.at_once ?? 5 });
  const approvalMs = config && config.wait_seconds * 1_000;
  return {
    always,
    open,
    questions: new Questions({ ...deps, ...deps.policy, always, approvalMs }),
    /** Takes up what an earlier server kept. Once, before anything is asked. */
    load: () => Promise.all([always.load(), lately.load()]),
    decisionsOn: (calls: DecidedCalls) => new Decisions({ ...deps, calls, always, open }),
  };
}

export type Approvals = ReturnType<typeof createApprovals>;
