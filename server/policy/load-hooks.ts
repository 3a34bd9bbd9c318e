import { basename, extname } from 'node:path';
import { z } from 'zod';
import type { Config } from '../config.ts';
import { loadModule } from '../load-module.ts';
import type { Hook } from './hook.ts';

const callable = z.custom<(...args: unknown[]) => unknown>((value) => typeof value === 'function');

const moduleSchema = z
  .object({ before_tool_call: callable.optional(), after_tool_call: callable.optional() })
  .refine((module) => module.before_tool_call ?? module.after_tool_call, {
    error: 'exports neither before_tool_call nor after_tool_call',
  });

/** Once, at the start. Throws `ConfigError`. */
export const loadHooks = (config: Pick<Config, 'file' | 'filePath'>): Promise<Hook[]> =>
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
