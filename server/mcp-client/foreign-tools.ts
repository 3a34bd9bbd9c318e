import { hash } from 'node:crypto';
import { z } from 'zod';
import { isRecord } from '#lib/json/is-record';
import { isToolName, LONGEST_TOOL_NAME, spellingOf } from '#lib/protocol/tool-name';
import { given } from '#lib/util/given';
import type { McpServerSettings } from './mcp-servers-config.ts';

/** Of the SHA-256, as hex digits. */
const HASH_CHARS = 8;

const hashOf = (foreign: string): string => hash('sha256', foreign, 'hex').slice(0, HASH_CHARS);

/** `<id>.<tool>` where that is a name; else what is left of it, with a hash of the whole. */
export function nameFor(id: string, foreign: string): string {
  const plain = `${id}.${foreign}`;
  return isToolName(plain) ? plain : hashedName(id, foreign);
}

/** A name that no other tool of the server has. */
function hashedName(id: string, foreign: string): string {
  const end = `-${hashOf(foreign)}`;
  const cleaned = foreign.replace(/[^A-Za-z0-9_.-]/g, '_');
  return `${id}.${cleaned.slice(0, LONGEST_TOOL_NAME - id.length - 1 - end.length)}${end}`;
}

/**
 * The names of a server's tools, by what the server calls them. A name that was given stays, since
 * people decided on the tool by it; of two with one spelling the later one has a hash.
 */
export class ForeignNames {
  readonly #id: string;
  /** Whether models could take it for a tool of others. */
  readonly #isReserved: (name: string) => boolean;
  readonly #names = new Map<string, string>();
  readonly #spellings = new Set<string>();

  constructor(id: string, isReserved: (name: string) => boolean) {
    this.#id = id;
    this.#isReserved = isReserved;
  }

  /** It has this name already. */
  keep(foreign: string, name: string): void {
    this.#names.set(foreign, name);
    this.#spellings.add(spellingOf(name));
  }

  /** For each of a list, in its order; none of them is kept by that. */
  namesOf(all: readonly string[]): string[] {
    const taken = new Set(this.#spellings);
    return all.map((foreign) => {
      const known = this.#names.get(foreign);
      if (known !== undefined) return known;
      const plain = nameFor(this.#id, foreign);
      const isTaken = taken.has(spellingOf(plain)) || this.#isReserved(plain);
      const name = isTaken ? hashedName(this.#id, foreign) : plain;
      taken.add(spellingOf(name));
      return name;
    });
  }
}

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
