import { createManualClock } from '#lib/client/testing/manual-clock';
import { policyDefinitionSchema } from '#lib/policy/policy-definition';
import { compileMarks } from '#lib/policy/taint';
import { createErrorLog } from '../../testing/error-log.ts';
import { Autonomy } from '../autonomy.ts';
import { HookChain } from '../hook-chain.ts';
import { LivePolicy, type LivePolicyDeps } from '../live-policy.ts';
import { RateLimits } from '../rate-limits.ts';
import { RunTaints, TokenReads } from '../taints.ts';

/** Kept in memory alone. */
const store = {
  write: async () => {},
  listKept: async () => [],
  listCalls: async () => ({ calls: [], nextCursor: null }),
  getRun: async () => undefined,
};
/** All are those of programs, and none is revoked. */
export const testTokens = {
  isLive: () => true,
  isProgram: () => true,
  programNamed: (name: string) => `tok_${name}`,
};
export const testAutonomy = () =>
  new Autonomy({
    ...{ store, clock: createManualClock(), bus: { publish: () => 0 } },
    logger: createErrorLog().logger,
  });

/** The policy of a configuration file, as a server has it. */
export function testPolicy(definition: object = {}, more: Partial<LivePolicyDeps> = {}) {
  const read = () => policyDefinitionSchema.parse(definition);
  const clock = createManualClock();
  const { logger } = createErrorLog();
  return new LivePolicy({
    ...{ definition: read(), file: () => '/srv/callboard.config.json', read },
    autonomy: testAutonomy(),
    hooks: new HookChain([], { clock, logger }),
    limits: new RateLimits({ store, clock, logger }),
    taints: new RunTaints(store, compileMarks(read().taint)),
    reads: new TokenReads({ store, tokens: testTokens, clock, logger }),
    registry: { find: () => undefined },
    tokens: testTokens,
    ...{ clock, logger },
    ...more,
  });
}
