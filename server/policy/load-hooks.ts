import { basename, dirname, extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { type Config, ConfigError } from '../config.ts';
import type { Hook } from './hook.ts';

const callable = z.custom<(...args: unknown[]) => unknown>((value) => typeof value === 'function');

const moduleSchema = z
  .object({ before_tool_call: callable.optional(), after_tool_call: callable.optional() })
  .refine((module) => module.before_tool_call ?? module.after_tool_call, {
    error: 'exports neither before_tool_call nor after_tool_call',
  });

/** Once, at the start. Throws `ConfigError`: a server without one of its hooks is another one. */
export const loadHooks = ({ file, filePath }: Pick<Config, 'file' | 'filePath'>): Promise<Hook[]> =>
  Promise.all(
    file.hooks.map(async ({ module, name, ...rest }) => {
      const path = resolve(dirname(filePath), module);
      try {
        const url = pathToFileURL(path).href;
        const loaded = moduleSchema.parse({ ...(await import(/* @vite-ignore */ url)) });
        const { before_tool_call: before, after_tool_call: after } = loaded;
        return {
          ...rest,
          name: name ?? basename(path, extname(path)),
          ...(before && { before }),
          ...(after && { after }),
        };
      } catch (error) {
        const why = error instanceof z.ZodError ? error.issues[0]?.message : String(error);
        throw new ConfigError(
          `${filePath}: the hook ${JSON.stringify(path)} cannot be used: ${why}`,
        );
      }
    }),
  );
