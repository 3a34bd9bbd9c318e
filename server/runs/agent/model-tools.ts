import type { JSONSchema7 } from '@ai-sdk/provider';
import { jsonSchema, type ToolSet, tool } from 'ai';
import type { Call } from '#lib/call/call';
import { toModelName } from '#lib/protocol/tool-name';
import { isTrusted } from '#lib/protocol/tool-source';
import type { ToolListing } from '#lib/protocol/tool-spec';
import { forModel } from '#lib/text/for-model';
import { markUntrusted } from '#lib/text/untrusted';
import { byName } from './choose-tools.ts';
import {
  type ClientArgument,
  clientArgumentOf,
  handleOfName,
  withClientArgument,
} from './client-argument.ts';
import { createToolFinder, type MeantTool } from './find-tool.ts';
import { normalizeSchema } from './normalize-schema.ts';
import type { SchemaTarget } from './schema/schema-target.ts';

/** A tool as it is offered to the model. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly schema: JSONSchema7;
}

export interface ModelTools {
  /** By name, in one order for the same tools. */
  readonly definitions: readonly ToolDefinition[];
  /** Without `execute`: the loop runs calls itself, so that each is a durable call. */
  readonly tools: ToolSet;
  /** The tool that a model means by a name, or why it means none of these. */
  find(modelName: string): MeantTool;
  /** How a tool is spelled to the model, also one that is no longer offered. */
  toModelName(toolName: string, clientId?: string | null): string;
  /** The argument with which the model would make the call for that client (AL164); none where it needs none. */
  clientArgument(call: Call): Readonly<Record<string, unknown>>;
}

/** A tool that a model cannot be offered: its schema has no form that the model's API accepts. */
export interface UnfitTool {
  readonly name: string;
  /** As the end of a sentence about the tool. */
  readonly reason: string;
}

const LONGEST_NAME = 64;

/** Sets those apart that have no schema in the form of the target (AL38); of the others, by name, what that form does not hold. */
export function setUnfitApart(listings: readonly ToolListing[], target: SchemaTarget) {
  const fit: ToolListing[] = [];
  const unfit: UnfitTool[] = [];
  const warnings = new Map<string, readonly string[]>();
  for (const listing of listings) {
    const form = normalizeSchema(listing.schema, target);
    if (form.ok) {
      fit.push(listing);
      if (form.warnings.length > 0) warnings.set(listing.name, form.warnings);
    } else unfit.push({ name: listing.name, reason: form.reason });
  }
  return { fit, unfit, warnings };
}

/**
 * Tools under names that models' APIs accept, and the way back (AL11).
 * `a.b` and `a_b` of two clients have one spelling; the later of them gets a number.
 * A tool whose schema has no form of the target is left out. A name may also mean
 * one of `others`, which are not sent.
 */
export function createModelTools(
  listings: readonly ToolListing[],
  target: SchemaTarget,
  others: readonly ToolListing[] = [],
): ModelTools {
  const toolNames = new Map<string, string>();
  const modelNames = new Map<string, string>();
  const clientArguments = new Map<string, ClientArgument>();
  const tools: ToolSet = {};
  const definitions: ToolDefinition[] = [];
  for (const listing of listings.toSorted(byName)) {
    const form = normalizeSchema(listing.schema, target);
    if (!form.ok) continue;
    const name = freeName(acceptableName(listing.model_name), toolNames);
    toolNames.set(name, listing.name);
    modelNames.set(listing.name, name);
    const description = describedTo(listing);
    const isStrict = target === 'openai-strict';
    const argument = clientArgumentOf(listing, form.schema);
    if (argument) clientArguments.set(listing.name, argument);
    const schema = argument ? withClientArgument(form.schema, argument, isStrict) : form.schema;
    definitions.push({ name, description, schema });
    tools[name] = tool({
      description,
      inputSchema: jsonSchema(schema),
      // The Responses API is strict by default, and then refuses most schemas.
      strict: isStrict,
    });
  }
  const find = createToolFinder(
    toolNames,
    others.map(({ name }) => name),
  );
  return {
    definitions,
    tools,
    find(written) {
      const meant = find(written);
      const client = meant.refusal ? undefined : clientArguments.get(meant.toolName);
      return client ? { ...meant, client } : meant;
    },
    toModelName: (toolName, clientId) =>
      modelNames.get(`${toolName}@${clientId}`) ??
      modelNames.get(toolName) ??
      acceptableName(toModelName(toolName)),
    clientArgument({ toolName, wantedClientId, args, card }) {
      if (wantedClientId === null || modelNames.has(`${toolName}@${wantedClientId}`)) return {};
      const argument = clientArguments.get(toolName);
      const name = argument?.name ?? 'client';
      if (Object.hasOwn(args, name)) return {};
      const handle = argument?.handleOf(wantedClientId);
      return { [name]: handle ?? handleOfName(card.client_name ?? wantedClientId) };
    },
  };
}

/** What others than the server say of their tools is marked as untrusted. */
function describedTo(listing: ToolListing): string {
  const text = forModel(listing.description);
  return isTrusted(listing) ? text : markUntrusted(text);
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
