import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { z } from 'zod';
import type { hooksDefinitionSchema, PolicyDefinition } from '#lib/policy/policy-definition';
import { compileMarks } from '#lib/policy/taint';
import { loadModule } from '../base/load-module.ts';
import type { Store } from '../store/room.ts';
import { Autonomy, type AutonomyDeps } from './autonomy.ts';
import type { Hook } from './hook.ts';
import { HookChain } from './hook-chain.ts';
import { LivePolicy, type LivePolicyDeps } from './live-policy.ts';
import { RateLimits } from './rate-limits.ts';
import { RunTaints, TokenReads, type TokenReadsDeps } from './taints.ts';

const callable = z.custom<(...args: unknown[]) => unknown>((value) => typeof value === 'function');

const moduleSchema = z
  .object({ before_tool_call: callable.optional(), after_tool_call: callable.optional() })
  .refine((module) => module.before_tool_call ?? module.after_tool_call, {
    error: 'exports neither before_tool_call nor after_tool_call',
  });

/** The part of the configuration that is the policy's. */
interface PolicySettings {
  readonly filePath: string;
  readonly file: {
    readonly policy: PolicyDefinition;
    readonly hooks: z.infer<typeof hooksDefinitionSchema>;
  };
}

/** Once, at the start. Throws `ConfigError`. */
export const loadHooks = (config: PolicySettings): Promise<Hook[]> =>
  Promise.all(
    config.file.hooks.map(({ module, name, ...rest }) => {
      const use = (exported: Readonly<Record<string, unknown>>, path: string): Hook => {
        const { before_tool_call: before, after_tool_call: after } = moduleSchema.parse(exported);
        return {
          ...rest,
          module,
          name: name ?? basename(path, extname(path)),
          ...(before && { before }),
          ...(after && { after }),
        };
      };
      return loadModule(config, { kind: 'hook', module, use });
    }),
  );

const EACH_MS = 1_000;

/**
 * Calls back when a file was written, replaced, made or deleted, and once at the beginning, for a
 * change since it was read. It is looked at each second: events of the file system are lost on some,
 * and end with a file that an editor replaces.
 */
function followFile(file: string, onChange: () => void): () => void {
  let seen: string | undefined;
  const timer = setInterval(async () => {
    const now = await stampOf(file);
    if (now === seen) return;
    seen = now;
    onChange();
  }, EACH_MS).unref();
  return () => clearInterval(timer);
}

const stampOf = (file: string): Promise<string> =>
  stat(file).then(
    ({ mtimeMs, ino, size }) => `${mtimeMs} ${ino} ${size}`,
    (error: NodeJS.ErrnoException) => error.code ?? error.message,
  );

/** The policy of the configuration file, which it follows until `stop`. */
export async function openPolicy(
  config: PolicySettings,
  deps: Omit<
    LivePolicyDeps,
    'definition' | 'file' | 'read' | 'autonomy' | 'limits' | 'hooks' | 'taints' | 'reads' | 'tokens'
  > & {
    store: Store;
    readonly tokens: LivePolicyDeps['tokens'] & TokenReadsDeps['tokens'];
    /** Reads the policy that the file has now. Throws `ConfigError`. */
    readPolicy(file: string): PolicyDefinition;
  } & Pick<AutonomyDeps, 'rootOf' | 'bus'>,
) {
  const { file, filePath } = config;
  const hooks = new HookChain(await loadHooks(config), deps);
  // A file that was never there is no mistake; one that was, and is no longer, may be one.
  let wasThere = existsSync(filePath);
  const read = () => {
    wasThere ||= existsSync(filePath);
    return wasThere ? deps.readPolicy(filePath) : file.policy;
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
