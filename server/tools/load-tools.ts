import { z } from 'zod';
import { isToolName, spellingOf } from '#lib/protocol/tool-name';
import { type Config, ConfigError } from '../config.ts';
import { loadModule } from '../load-module.ts';
import { type AnyServerTool, defineTool, isDefinedTool, ToolError } from './define-tool.ts';
import { toProvidedTool } from './to-provided-tool.ts';

/** What a module is given, so that it needs no package of its own. */
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
export async function withModules(
  own: readonly AnyServerTool[],
  config: Pick<Config, 'file' | 'filePath'>,
): Promise<AnyServerTool[]> {
  const tools = [...own];
  for (const { module, override } of config.file.tools.modules) {
    const use = (exported: Readonly<Record<string, unknown>>) => toolsOf(exported);
    const loaded = await loadModule(config, { kind: 'tool', module, use });
    const isOverridden = (name: string) => override.some((one) => isSame(one, name));
    const refuse = (why: string) => new ConfigError(`${config.filePath}: tools.modules: ${why}`);
    for (const name of override) {
      if (!loaded.some((tool) => tool.name === name)) {
        throw refuse(`${JSON.stringify(module)} has no tool "${name}" to override one with`);
      }
    }
    for (const tool of loaded) {
      const at = tools.findIndex(({ name }) => isSame(name, tool.name));
      if (at >= 0 && !isOverridden(tool.name)) {
        throw refuse(
          `the tool "${tool.name}" of ${JSON.stringify(module)} is there already; if it is to take its place, add it to "override"`,
        );
      }
      if (at < 0) tools.push(tool);
      else tools[at] = tool;
    }
  }
  return tools;
}

const isSame = (a: string, b: string): boolean => spellingOf(a) === spellingOf(b);

async function toolsOf(exported: Readonly<Record<string, unknown>>): Promise<AnyServerTool[]> {
  const made = await factorySchema.parse(exported).default(GIVEN);
  const tools = z.array(toolSchema).parse(Array.isArray(made) ? made : [made]);
  for (const tool of tools) {
    await tool.ready();
    factsSchema.parse(tool);
    // What it lists must be a schema that is supported.
    toProvidedTool(tool);
  }
  return tools;
}
