import { hash } from 'node:crypto';
import type { Call } from '#lib/call/call';
import { isRecord } from '#lib/json/is-record';
import { READ_RESULT, RUN_TOOLS, type RunTool, SEARCH_TOOLS } from '#lib/protocol/run-tools';
import { parseToolReference, toModelName } from '#lib/protocol/tool-name';
import { isOfClient } from '#lib/protocol/tool-source';
import type { ToolListing } from '#lib/protocol/tool-spec';
import { given } from '#lib/util/given';
import { refusalOf } from '../../auth/room.ts';
import type { ToolRegistry } from '../../tools/room.ts';
import { byName, chooseTools } from './choose-tools.ts';
import { nameClients } from './client-argument.ts';
import { setUnfitApart, type UnfitTool } from './model-tools.ts';
import { askedFrom, askedIn, outputFor, type Turn, wordsIn } from './turn.ts';

/** What becomes of each tool in the next step (AL10, AL103, AL107 to AL109). */
interface ToolChoice {
  readonly offered: readonly ToolListing[];
  readonly leftOut: number;
  /** These, and those that the policy denies: a call of them is made as of the others. */
  readonly unsent: readonly ToolListing[];
  readonly unfit: readonly UnfitTool[];
  /** Of every tool, by name; of those that are gone, too, where the run has called them. */
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
  const why = new Map<string, Why>();
  const usable = listings.filter((listing) => {
    const obstacle = obstacleOf(turn, listing, records);
    if (obstacle) why.set(listing.name, obstacle);
    return !obstacle;
  });
  const { fit, unfit, warnings } = setUnfitApart(usable, turn.model.schemaTarget);
  for (const { name, reason } of unfit) why.set(name, { offer: 'schema_unfit', reason });
  const { maxTools: most } = turn.model;
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
    ({ name, source }): RunTool => ({
      name,
      source,
      pinned: isPinned(name),
      found: found.has(name),
      ...(why.get(name) ?? { offer: 'offered', ...given({ schema_warnings: warnings.get(name) }) }),
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
    unfit,
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

const pinnedIn =
  ({ deps, pinned }: ChoosingTurn) =>
  (name: string): boolean =>
    deps.isPinned(name) || pinned.includes(name);

/** What searches gave and calls used, the newest last; tools that are not there any more are not among the found. */
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

/** Of one name, and of all together; further ones are reached by programs alone, as `name@client`. */
const MOST_OF_NAME = 8;
const MOST_VARIANTS = 32;
const LONGEST_NAME = 64;

/**
 * Tools of clients that offer a name with another schema than the pool has, each as a tool of its
 * own (AL165): `name@client`, spelled with the client's handle.
 */
function listVariants(
  listings: readonly ToolListing[],
  registry: Pick<ToolRegistry, 'find'>,
): ToolListing[] {
  return listings.flatMap((one) => variantsOf(one, registry)).slice(0, MOST_VARIANTS);
}

function variantsOf(pool: ToolListing, registry: Pick<ToolRegistry, 'find'>): ToolListing[] {
  const { others = [] } = pool;
  if (!isOfClient(pool) || others.length === 0) return [];
  const clients = others.slice(0, MOST_OF_NAME);
  return nameClients(clients).flatMap(({ handle, clientId }) => {
    const name = `${pool.name}@${clientId}`;
    const tool = registry.find(name)?.best;
    const client = clients.find(({ client_id }) => client_id === clientId);
    if (!tool || tool.clientId === null || !client) return [];
    const { description, schema, timeoutMs: timeout_ms, annotations, displayName } = tool;
    return {
      name,
      model_name: spelled(pool.name, handle),
      source: pool.source,
      schema,
      timeout_ms,
      annotations,
      description: `${description}\n(On ${handle} alone: it takes other arguments there than at the other clients.)`,
      ...given({ display_name: displayName, reason: pool.reason }),
      clients: [{ ...client, visible: true }],
      callable: pool.callable,
    };
  });
}

/** `[A-Za-z0-9_-]{1,64}`, with the handle whole; what it loses of other scripts a hash stands for. */
function spelled(name: string, handle: string): string {
  const ascii = handle.replaceAll(/[^a-z0-9-]+/g, '');
  const end = ascii === handle ? handle : `${ascii}${hash('sha256', handle).slice(0, 6)}`;
  return `${toModelName(name).slice(0, LONGEST_NAME - end.length - 2)}__${end}`;
}
