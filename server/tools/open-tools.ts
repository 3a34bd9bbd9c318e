import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { z } from 'zod';
import { isToolName, spellingOf } from '#lib/protocol/tool-name';
import { ConfigError } from '../base/config-error.ts';
import { loadModule } from '../base/load-module.ts';
import { openBuiltins, type ToolParts } from './builtin/builtin-tools.ts';
import { type AnyServerTool, defineTool, isDefinedTool, ToolError } from './define-tool.ts';
import { OwnTools, toProvidedTool } from './own-tools.ts';
import type { ToolSettings } from './tools-config.ts';
import { FileOrigins } from './workspace/file-origins.ts';
import { createFileTools, type Origins } from './workspace/file-tools.ts';
import { probeIsolation } from './workspace/isolation.ts';
import { createShell } from './workspace/shell-tool.ts';

/** A module is given these, so that it needs no package of its own. */
const GIVEN = { defineTool, ToolError, z };

const factorySchema = z.object({
  default: z.custom<(given: typeof GIVEN) => unknown>((value) => typeof value === 'function', {
    error: 'its default export is not a function that is given {defineTool, ToolError, z}',
  }),
});

/** All that follows from a tool must be there: a module is not type-checked. */
const toolSchema = z.custom<AnyServerTool>(isDefinedTool, {
  error: 'it gives something that defineTool did not make',
});
const factsSchema = z.object({
  name: z.custom(isToolName, {
    error: 'name: it must be an ASCII letter, then 63 letters, digits, "_", "." or "-" at most',
  }),
  displayName: z.string('displayName: it must be a text').min(1).max(128),
  description: z.string('description: it must be a text').min(1).max(4_096),
  args: z.instanceof(z.ZodObject, { error: 'args: it must be a z.object' }),
  effect: z.enum(['read', 'write'], { error: 'effect: it must be "read" or "write"' }),
  timeoutMs: z.int('timeoutMs: it must be 100 to 600000').min(100).max(600_000),
  concurrency: z.int('concurrency: it must be a whole number').min(1).optional(),
});

/**
 * The server's tools with those of the modules that the configuration names, in that order. One
 * takes the place of another alone where its module's `override` has the name. Throws `ConfigError`.
 */
async function withModules(
  own: readonly AnyServerTool[],
  config: ToolSettings,
): Promise<AnyServerTool[]> {
  const tools = [...own];
  for (const { module, override } of config.file.tools.modules) {
    const use = (exported: Readonly<Record<string, unknown>>) => toolsOf(exported);
    const loaded = await loadModule(config, { kind: 'tool', module, use });
    const refuse = (why: string) => new ConfigError(`${config.filePath}: tools.modules: ${why}`);
    const missing = override.find((name) => !loaded.some((tool) => tool.name === name));
    if (missing !== undefined) {
      throw refuse(`${JSON.stringify(module)} has no tool "${missing}" to override one with`);
    }
    for (const tool of loaded) {
      const isOverridden = override.some((one) => isSame(one, tool.name));
      if (put(tools, tool, isOverridden)) continue;
      throw refuse(
        `the tool "${tool.name}" of ${JSON.stringify(module)} is there already; if it is to take its place, add it to "override"`,
      );
    }
  }
  return tools;
}

/** False where another tool has the name, which this one may not take. */
function put(tools: AnyServerTool[], tool: AnyServerTool, mayReplace: boolean): boolean {
  const at = tools.findIndex(({ name }) => isSame(name, tool.name));
  if (at >= 0 && !mayReplace) return false;
  if (at < 0) tools.push(tool);
  else tools[at] = tool;
  return true;
}

const isSame = (a: string, b: string): boolean => spellingOf(a) === spellingOf(b);

async function toolsOf(exported: Readonly<Record<string, unknown>>): Promise<AnyServerTool[]> {
  const made = await factorySchema.parse(exported).default(GIVEN);
  const tools = z.array(toolSchema).parse(Array.isArray(made) ? made : [made]);
  for (const tool of tools) {
    await tool.ready();
    factsSchema.parse(tool);
    // It throws where the schema of the tool cannot be checked whole.
    toProvidedTool(tool);
  }
  return tools;
}

/** The server's own tools, as the configuration has them. Throws `ConfigError`. */
export async function openTools(config: ToolSettings, parts: ToolParts): Promise<AnyServerTool[]> {
  const own = [...openBuiltins(config, parts), ...(await openWorkspaceTools(config, parts))];
  return withModules(own, config);
}

/** The same as their provider. */
export const openOwnTools = async (config: ToolSettings, parts: ToolParts) =>
  new OwnTools(await openTools(config, parts));

async function openWorkspaceTools(
  config: ToolSettings,
  parts: ToolParts,
): Promise<AnyServerTool[]> {
  const { workspace, shell, file } = config.file.tools;
  if (workspace === undefined) return [];
  const { store, clock, othersRead = () => null } = parts;
  const origins = { files: await FileOrigins.open({ store, clock }), othersRead };
  const root = openWorkspace(config, resolve(dirname(config.filePath), workspace));
  return [
    ...(file ? createFileTools({ root, write: file.write, origins }) : []),
    ...(shell ? [await openShell(config, shell, { root, origins }, parts)] : []),
  ];
}

type ShellConfig = NonNullable<ToolSettings['file']['tools']['shell']>;

async function openShell(
  { filePath }: ToolSettings,
  shell: ShellConfig,
  { root, origins }: { readonly root: string; readonly origins: Origins },
  { env, logger, threadOf }: ToolParts,
): Promise<AnyServerTool> {
  const settings = { root, origins, ...settingsOf(shell, root, env) };
  if (shell.isolation === 'off') return createShell(settings);
  const starterPath = threadOf('program-starter.mjs', 'tools/workspace/program-starter.ts');
  const { isolation, reason } = await probeIsolation({ starterPath, path: env.PATH ?? '' });
  if (isolation) return createShell({ ...settings, isolation });
  const why = `programs cannot be started in a PID namespace of their own here: ${reason}`;
  if (shell.isolation === 'required') {
    throw new ConfigError(
      `${filePath}: tools.shell.isolation is "required", and ${why}; allow \`unshare --pid\` to the user of the server, or set "auto" or "off"`,
    );
  }
  logger.info(
    `tools.shell: ${why}. They may read the environment of this server and of other processes of its user.`,
  );
  return createShell(settings);
}

/** Its real path. It shares nothing with the folder where the token and the history are, nor with the configuration. */
function openWorkspace(config: ToolSettings, path: string): string {
  const { filePath, dataDir } = config;
  const refuse = (why: string) =>
    new ConfigError(`${filePath}: tools.workspace is ${JSON.stringify(path)}: ${why}`);
  if (!existsSync(path)) throw refuse('it is not there; make that folder');
  const root = realpathSync(path);
  const data = existsSync(dataDir) ? realpathSync(dataDir) : dataDir;
  if (isInside(data, root) || isInside(root, data)) {
    throw refuse(`it may neither hold nor lie in the data folder ${data}`);
  }
  const held = rulesOf(config).find((one) => isInside(one, root));
  if (held) throw refuse(`it may not hold ${held}, by which a tool would change its own rules`);
  return root;
}

/** The files that say what tools may do. */
function rulesOf({ filePath, file }: ToolSettings): string[] {
  const modules = [...file.hooks, ...file.tools.modules];
  const paths = modules.map(({ module }) => resolve(dirname(filePath), module));
  // A link counts where it is and where it leads: either could be exchanged.
  return [filePath, ...paths].flatMap((path) =>
    existsSync(path)
      ? [join(realpathSync(dirname(path)), basename(path)), realpathSync(path)]
      : [path],
  );
}

const isInside = (path: string, folder: string): boolean =>
  `${path}${sep}`.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);

function settingsOf(shell: ShellConfig, root: string, env: ToolParts['env']) {
  const names = ['PATH', 'LANG', 'TZ', ...shell.env];
  const given = names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]));
  return {
    env: { HOME: root, ...Object.fromEntries(given) },
    timeoutMs: shell.timeout_seconds * 1_000,
  };
}
