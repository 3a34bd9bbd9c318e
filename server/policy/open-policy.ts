import { existsSync } from 'node:fs';
import { type Config, readFile } from '../config.ts';
import type { Store } from '../store/store.ts';
import { Autonomy } from './autonomy.ts';
import { followFile } from './follow-file.ts';
import { HookChain } from './hook-chain.ts';
import { LivePolicy, type LivePolicyDeps } from './live-policy.ts';
import { loadHooks } from './load-hooks.ts';
import { RateLimits } from './rate-limits.ts';

/** The policy of the configuration file, which it follows until `stop`. */
export async function openPolicy(
  config: Pick<Config, 'file' | 'filePath'>,
  deps: Omit<LivePolicyDeps, 'definition' | 'read' | 'autonomy' | 'limits' | 'hooks'> & {
    store: Store;
  },
) {
  const { file, filePath } = config;
  const hooks = new HookChain(await loadHooks(config), deps);
  // A file that was never there is no mistake; one that was, and is no longer, may be one.
  let wasThere = false;
  const read = () => {
    wasThere ||= existsSync(filePath);
    return wasThere ? readFile(filePath).policy : file.policy;
  };
  const autonomy = new Autonomy(deps);
  const limits = new RateLimits(deps);
  await Promise.all([autonomy.load(), limits.load()]);
  const policy = new LivePolicy({
    ...deps,
    autonomy,
    limits,
    hooks,
    definition: file.policy,
    read,
  });
  return { policy, hooks, stop: followFile(filePath, () => policy.reload()) };
}
