import { jsonSchema, type ToolSet, tool } from 'ai';
import { toModelName } from '#lib/protocol/tool-name';
import type { ToolListing } from '#lib/protocol/tool-spec';
import { createToolFinder, type MeantTool } from './find-tool.ts';
import { normalizeSchema } from './normalize-schema.ts';

/** A tool as it is offered to the model. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly schema: ReturnType<typeof normalizeSchema>;
}

export interface ModelTools {
  /** By name, in one order for the same tools. */
  readonly definitions: readonly ToolDefinition[];
  /** Without `execute`: the loop runs calls itself, so that each is a durable call. */
  readonly tools: ToolSet;
  /** The tool that a model means by a name, or why it means none of these. */
  find(modelName: string): MeantTool;
  /** How a tool is spelled to the model, also one that is no longer offered. */
  toModelName(toolName: string): string;
}

const LONGEST_NAME = 64;

/**
 * Tools under names that models' APIs accept, and the way back (AL11).
 * `a.b` and `a_b` of two clients have one spelling; the later of them gets a number.
 */
export function createModelTools(listings: readonly ToolListing[]): ModelTools {
  const toolNames = new Map<string, string>();
  const modelNames = new Map<string, string>();
  const tools: ToolSet = {};
  const definitions: ToolDefinition[] = [];
  const sorted = listings.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  for (const listing of sorted) {
    const name = freeName(acceptableName(listing.model_name), toolNames);
    toolNames.set(name, listing.name);
    modelNames.set(listing.name, name);
    const { description } = listing;
    const schema = normalizeSchema(listing.schema);
    definitions.push({ name, description, schema });
    tools[name] = tool({
      description,
      inputSchema: jsonSchema(schema),
      // The Responses API is strict by default, and then refuses most schemas.
      strict: false,
    });
  }
  return {
    definitions,
    tools,
    find: createToolFinder(toolNames),
    toModelName: (toolName) => modelNames.get(toolName) ?? acceptableName(toModelName(toolName)),
  };
}

/** `[A-Za-z0-9_-]{1,64}`, whatever a model made up. */
const acceptableName = (name: string): string =>
  name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, LONGEST_NAME) || '_';

function freeName(name: string, taken: ReadonlyMap<string, string>): string {
  for (let number = 2, free = name; ; number += 1) {
    if (!taken.has(free)) return free;
    const suffix = `_${number}`;
    free = name.slice(0, LONGEST_NAME - suffix.length) + suffix;
  }
}
