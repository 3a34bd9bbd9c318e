import { existsSync } from 'node:fs';
import { compileMarks } from '#lib/policy/taint';
import { type Config, readFile } from '../config.ts';
import type { Store } from '../store/store.ts';
import { Autonomy, type AutonomyDeps } from './autonomy.ts';
import { followFile } from './follow-file.ts';
import { HookChain } from './hook-chain.ts';
import { LivePolicy, type LivePolicyDeps } from './live-policy.ts';
import { loadHooks } from './load-hooks.ts';
import type { PolicyTokens } from './policy-tokens.ts';
import { RateLimits } from './rate-limits.ts';
import { RunTaints } from './run-taints.ts';
import { TokenReads } from './token-reads.ts';

/** The policy of the configuration file, which it follows until `stop`. */
export async function openPolicy(
  config: Pick<Config, 'file' | 'filePath'>,
  deps: Omit<
    LivePolicyDeps,
    'definition' | 'file' | 'read' | 'autonomy' | 'limits' | 'hooks' | 'taints' | 'reads' | 'tokens'
  > & {
    store: Store;
    readonly tokens: PolicyTokens;
  } & Pick<AutonomyDeps, 'rootOf' | 'bus'>,
) {
  const { file, filePath } = config;
  const hooks = new HookChain(await loadHooks(config), deps);
  // A file that was never there is no mistake; one that was, and is no longer, may be one.
  let wasThere = existsSync(filePath);
  const read = () => {
    wasThere ||= existsSync(filePath);
    return wasThere ? readFile(filePath).policy : file.policy;
  };
  const autonomy = new Autonomy(deps);
  const limits = new RateLimits(deps);
  const taints = new RunTaints(deps.store, compileMarks(file.policy.taint));
  const reads = new TokenReads(deps);
  await Promise.all([autonomy.load(), limits.load(), reads.load()]);
  const policy = new LivePolicy({
    ...deps,
    autonomy,
    limits,
    taints,
    reads,
    hooks,
    definition: file.policy,
    file: () => (wasThere ? filePath : null),
    read,
  });
  const { deleting, claimed } = autonomy;
  return { policy, hooks, deleting, claimed, stop: followFile(filePath, () => policy.reload()) };
}
