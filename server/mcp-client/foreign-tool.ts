import { z } from 'zod';
import { isRecord } from '#lib/json/is-record';
import { given } from '#lib/util/given';
import type { McpServerSettings } from './mcp-servers-config.ts';

/** What models and people read of a tool at most; of a longer description the beginning. */
const DESCRIPTION_CHARS = 1_024;
const TITLE_CHARS = 128;
export const LONGEST_FOREIGN_NAME = 256;

const namedSchema = z.object({ name: z.string().min(1).max(LONGEST_FOREIGN_NAME) });

/** Each part by itself: what is wrong with one is no reason not to read the others. */
const partsSchema = z.object({
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  inputSchema: z.unknown().optional(),
  // As others spell it.
  input_schema: z.unknown().optional(),
  parameters: z.unknown().optional(),
  annotations: z.record(z.string(), z.unknown()).optional().catch(undefined),
});

const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const;

/** The name that a server gives a tool; undefined where that is none. */
export const foreignNameOf = (tool: unknown): string | undefined =>
  namedSchema.safeParse(tool).data?.name;

/** A tool of a server as a client of ours would register it, to be checked as such. */
export function toSpec(
  tool: unknown,
  { foreign, name }: { readonly foreign: string; readonly name: string },
  { trust }: Pick<McpServerSettings, 'trust'>,
): object {
  const { title, description, annotations = {}, ...parts } = partsSchema.parse(tool);
  const schema = parts.inputSchema ?? parts.input_schema ?? parts.parameters ?? {};
  const hints = HINTS.map((hint) => [hint, annotations[hint]] as const);
  const believed = hints.filter(([, hint]) => trust && typeof hint === 'boolean');
  const shown = title?.trim() ? title : undefined;
  return {
    name,
    description: (description?.trim() ? description : (shown ?? foreign)).slice(
      0,
      DESCRIPTION_CHARS,
    ),
    parameters: isRecord(schema) ? { type: 'object', ...schema } : schema,
    ...given({ display_name: shown?.slice(0, TITLE_CHARS) }),
    ...(believed.length > 0 && { annotations: Object.fromEntries(believed) }),
  };
}
