import type { JSONSchema7 } from '@ai-sdk/provider';
import { jsonSchema, type ToolSet, tool } from 'ai';
import type { Call } from '#lib/call/call';
import { isRecord } from '#lib/json/is-record';
import { READ_RESULT, RUN_TOOLS, type RunTool, SEARCH_TOOLS } from '#lib/protocol/run-tools';
import { parseToolReference, toModelName } from '#lib/protocol/tool-name';
import { isOfClient, isTrusted } from '#lib/protocol/tool-source';
import type { ToolListing } from '#lib/protocol/tool-spec';
import { forModel } from '#lib/text/for-model';
import { markUntrusted } from '#lib/text/untrusted';
import { refusalOf } from '../../auth/room.ts';
import {
  type ClientArgument,
  clientArgumentOf,
  handleOfName,
  listVariants,
  withClientArgument,
} from './clients.ts';
import { createToolFinder, type MeantTool } from './mend-calls.ts';
import { normalizeSchema } from './normalize-schema.ts';
import type { SchemaTarget } from './schema-targets.ts';
import { askedFrom, askedIn, outputFor, type Turn, wordsIn } from './turn.ts';

/** The choice tells what becomes of each tool in the next step (AL10, AL103, AL107 to AL109). */
interface ToolChoice {
  readonly offered: readonly ToolListing[];
  readonly leftOut: number;
  /** These, and those that the policy denies: a call of them is made as of the others. */
  readonly unsent: readonly ToolListing[];
  /** Every tool has one, by name, also those that are gone where the run has called them. */
  readonly states: readonly RunTool[];
}

type ChoosingTurn = Pick<
  Turn,
  'deps' | 'principal' | 'runId' | 'tools' | 'pinned' | 'model' | 'transcript' | 'outputs'
>;

type Why = Pick<RunTool, 'offer' | 'rule' | 'reason'>;

export function chooseForStep(turn: ChoosingTurn, records: readonly Call[]): ToolChoice {
  const pools = turn.deps.registry.list(turn.principal, askedFrom(turn));
  const listings = [...pools, ...listVariants(pools, turn.deps.registry)];
  const { schemaTarget, maxTools: most } = turn.model;
  const why = new Map<string, Why>();
  for (const listing of listings) {
    const obstacle = obstacleOf(turn, listing, records) ?? misfitOf(listing, schemaTarget);
    if (obstacle) why.set(listing.name, obstacle);
  }
  const fit = listings.filter(({ name }) => !why.has(name));
  const others = fit.filter((listing) => !isSearch(listing));
  const isWhole = most === null || others.length <= most;
  const { found, recent } = readUse(records, fit);
  const isPinned = pinnedIn(turn);
  const asked = askedIn(turn);
  const offered = chooseTools(isWhole ? others : fit, {
    most,
    isPinned,
    recent,
    text: asked ? wordsIn(asked) : '',
    clientId: asked?.client_id ?? null,
  });
  const isOffered = new Set(offered);
  const overLimit = others.filter((listing) => !isOffered.has(listing));
  const denied = listings.filter(({ name }) => why.get(name)?.offer === 'denied');
  for (const { name } of overLimit) why.set(name, { offer: 'over_limit' });
  if (isWhole) why.set(SEARCH_TOOLS, { offer: 'not_needed' });
  const states = listings.map(
    ({ name, source, schema }): RunTool => ({
      name,
      source,
      pinned: isPinned(name),
      found: found.has(name),
      ...(why.get(name) ?? { offer: 'offered', ...warningsOf(schema, schemaTarget) }),
    }),
  );
  const away = toolsOfClientsAway(listings, records).map(
    (name): RunTool => ({
      name,
      source: 'client',
      offer: 'client_away',
      pinned: isPinned(name),
      found: false,
    }),
  );
  return {
    offered,
    leftOut: overLimit.length,
    unsent: [...overLimit, ...denied],
    states: [...states, ...away].toSorted(byName),
  };
}

const isSearch = ({ name, source }: ToolListing): boolean =>
  source === 'server' && name === SEARCH_TOOLS;

/** Why the run cannot call it at all. */
function obstacleOf(
  turn: ChoosingTurn,
  listing: ToolListing,
  records: readonly Call[],
): Why | undefined {
  const { name, source, callable, reason, clients } = listing;
  const { name: plain } = parseToolReference(name);
  const offer = refusalOf(turn.principal, plain) === undefined ? 'unavailable' : 'not_permitted';
  if (!callable) return { offer, ...(reason === undefined ? {} : { reason }) };
  const isOfRun = source === 'server' && RUN_TOOLS.has(name);
  if (!isOfRun && turn.tools && !turn.tools.includes(plain)) return { offer: 'not_in_run' };
  const { principal, runId, deps } = turn;
  const denial = deps.denialOf({ principal, runId, name, from: askedFrom(turn) ?? null });
  if (denial) return { offer: 'denied', ...denial };
  if (isOfRun && name === READ_RESULT && !records.some((one) => outputFor(turn, one).cut)) {
    return { offer: 'not_needed' };
  }
  const isUnavailable = clients.length > 0 && clients.every(({ tripped }) => tripped);
  return isUnavailable && listing.clients_left_out === undefined ? { offer: 'failing' } : undefined;
}

/** Its schema has no form that the model's API accepts (AL38). */
function misfitOf({ schema }: ToolListing, target: SchemaTarget): Why | undefined {
  const form = normalizeSchema(schema, target);
  return form.ok ? undefined : { offer: 'schema_unfit', reason: form.reason };
}

/** What the form of a schema does not hold of it. */
function warningsOf(schema: ToolListing['schema'], target: SchemaTarget) {
  const form = normalizeSchema(schema, target);
  return form.ok && form.warnings.length > 0 ? { schema_warnings: [...form.warnings] } : {};
}

const pinnedIn =
  ({ deps, pinned }: ChoosingTurn) =>
  (name: string): boolean =>
    deps.isPinned(name) || pinned.includes(name);

/** Lists what searches gave and calls used, the newest last; tools that are gone are not among the found. */
function readUse(records: readonly Call[], listings: readonly ToolListing[]) {
  const here = new Set(listings.map(({ name }) => name));
  const found = new Set<string>();
  const recent: string[] = [];
  for (const { toolName, source, result } of records) {
    if (toolName !== SEARCH_TOOLS || source !== 'server') {
      recent.push(toolName);
      continue;
    }
    // The best of them is the newest.
    for (const name of namesIn(result).toReversed()) {
      if (!here.has(name)) continue;
      found.add(name);
      recent.push(name);
    }
  }
  return { found, recent };
}

function namesIn(result: unknown): string[] {
  const tools = isRecord(result) && Array.isArray(result.tools) ? result.tools : [];
  return tools.flatMap((tool) =>
    isRecord(tool) && typeof tool.name === 'string' ? [tool.name] : [],
  );
}

function toolsOfClientsAway(listings: readonly ToolListing[], records: readonly Call[]): string[] {
  const here = new Set(listings.map(({ name }) => name));
  const called = records.flatMap(({ source, toolName }) => (source === 'client' ? [toolName] : []));
  return [...new Set(called)].filter((name) => !here.has(name));
}

/**
 * Tools in one request to OpenAI ("A max of 128 functions are supported", API
 * reference, `tools`); one more answers HTTP 400 `array_above_max_length`.
 */
export const MOST_TOOLS = 128;

export interface ToolChoiceOptions {
  /** How many the model takes; null for any number. */
  readonly most: number | null;
  readonly text: string;
  /** Names of the tools that this run has called or found by a search, the newest last. */
  readonly recent: readonly string[];
  readonly isPinned: (name: string) => boolean;
  /** The client whose person wrote the message, where that is known. */
  readonly clientId: string | null;
}

/**
 * The tools that a model is offered when it takes fewer than there are (AL103):
 * those about the run itself, those that the message names, pinned ones, those
 * that the run has found or called, the newest first; of both no more than half of
 * all. Then the server's, those of the client whose person wrote it, those of
 * visible clients, the rest. Within each of these the clients take turns, so that
 * one with many tools leaves room for one with few. The same tools and wishes give
 * the same choice.
 */
export function chooseTools(
  listings: readonly ToolListing[],
  options: ToolChoiceOptions,
): readonly ToolListing[] {
  const { most } = options;
  if (most === null || listings.length <= most) return listings;
  const rankOf = createRanking(options);
  const half = Math.floor(most / 2);
  const recent = new Set(options.recent.toReversed());
  const places = new Map([...recent].slice(0, half).map((name, at) => [name, at]));
  let pins = 0;
  const turns = new Map<string, number>();
  const placed = listings.toSorted(byName).map((listing) => {
    const place = places.get(listing.name);
    const rank = rankOf(listing, place !== undefined, pins < half);
    if (rank === Rank.pinned) pins += 1;
    if (rank === Rank.recent && place !== undefined) return { listing, rank, turn: place };
    const queue = `${rank} ${listing.clients[0]?.client_id ?? ''}`;
    const turn = turns.get(queue) ?? 0;
    turns.set(queue, turn + 1);
    return { listing, rank, turn };
  });
  // Stable, so that names decide between equals.
  const sorted = placed.toSorted((a, b) => a.rank - b.rank || a.turn - b.turn);
  return sorted.slice(0, most).map(({ listing }) => listing);
}

const byName = (a: { readonly name: string }, b: { readonly name: string }): number =>
  a.name < b.name ? -1 : a.name > b.name ? 1 : 0;

/** The lower the sooner. */
const Rank = {
  ofRun: 0,
  named: 1,
  pinned: 2,
  recent: 3,
  server: 4,
  ofWriter: 5,
  visible: 6,
  responsive: 7,
  silent: 8,
} as const;

function createRanking({ text, clientId, isPinned }: ToolChoiceOptions) {
  const input = plain(text);
  const isNamed = ({ name, model_name, display_name }: ToolListing) =>
    [name, model_name, display_name ?? ''].some((one) => isWithin(input, plain(one)));
  return (listing: ToolListing, isRecent: boolean, mayBePinned: boolean): number => {
    const { name, source } = listing;
    if (source === 'server' && RUN_TOOLS.has(name)) return Rank.ofRun;
    if (isNamed(listing)) return Rank.named;
    if (mayBePinned && isPinned(name)) return Rank.pinned;
    if (isRecent) return Rank.recent;
    return isTrusted(listing) ? Rank.server : rankOfClients(listing, clientId);
  };
}

function rankOfClients(listing: ToolListing, clientId: string | null): number {
  const { clients } = listing;
  if (clients.some(({ client_id }) => client_id === clientId)) return Rank.ofWriter;
  if (!isOfClient(listing)) return Rank.visible;
  const answering = clients.filter(({ responsive }) => responsive !== false);
  if (answering.length === 0) return Rank.silent;
  return answering.some(({ visible }) => visible) ? Rank.visible : Rank.responsive;
}

const plain = (text: string): string => text.toLowerCase().replaceAll('.', '_');

/** It must be a word of its own: ASCII names need no blank next to Chinese. */
function isWithin(text: string, name: string): boolean {
  if (name === '') return false;
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const isOpen = !/[a-z0-9_]/.test(text[at - 1] ?? '');
    if (isOpen && !/[a-z0-9]/.test(text[at + name.length] ?? '')) return true;
  }
  return false;
}

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

const LONGEST_NAME = 64;

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

/** Descriptions by others than the server are marked as untrusted. */
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
