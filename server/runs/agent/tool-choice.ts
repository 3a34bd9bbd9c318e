import type { CallRecord } from '#lib/call/call-record';
import { isRecord } from '#lib/json/is-record';
import { READ_RESULT, RUN_TOOLS, type RunTool, SEARCH_TOOLS } from '#lib/protocol/run-tools';
import { parseToolReference } from '#lib/protocol/tool-name';
import type { ToolListing } from '#lib/protocol/tool-spec';
import { refusalOf } from '../../auth/principal.ts';
import { chooseTools } from './choose-tools.ts';
import { setUnfitApart, type UnfitTool } from './model-tools.ts';
import { askedFrom, askedIn, lastWords, outputFor, type Turn } from './turn.ts';
import { listVariants } from './variant-tools.ts';

/** What becomes of each tool in the next step (AL10, AL103, AL107 to AL109). */
export interface ToolChoice {
  readonly offered: readonly ToolListing[];
  /** Tools that there was no room for. */
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

const warningsOf = (warnings: readonly string[] | undefined) =>
  warnings ? { schema_warnings: [...warnings] } : {};

export function chooseForStep(turn: ChoosingTurn, records: readonly CallRecord[]): ToolChoice {
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
  const { offered } = chooseTools(isWhole ? others : fit, {
    ...{
      most,
      isPinned,
      text: lastWords(askedIn(turn)),
      clientId: askedIn(turn)?.client_id ?? null,
    },
    recent,
  });
  const isOffered = new Set(offered);
  const overLimit = others.filter((listing) => !isOffered.has(listing));
  const denied = listings.filter(({ name }) => why.get(name)?.offer === 'denied');
  for (const { name } of overLimit) why.set(name, { offer: 'over_limit' });
  if (isWhole) why.set(SEARCH_TOOLS, { offer: 'not_needed' });
  const states = listings.map(
    ({ name, source }): RunTool => ({
      ...{ name, source, pinned: isPinned(name), found: found.has(name) },
      ...(why.get(name) ?? { offer: 'offered', ...warningsOf(warnings.get(name)) }),
    }),
  );
  const away = toolsOfClientsAway(listings, records).map(
    (name): RunTool => ({
      ...{ name, source: 'client', offer: 'client_away' },
      ...{ pinned: isPinned(name), found: false },
    }),
  );
  return {
    ...{ offered, unfit, leftOut: overLimit.length, unsent: [...overLimit, ...denied] },
    states: [...states, ...away].toSorted(byName),
  };
}

const isSearch = ({ name, source }: ToolListing): boolean =>
  source === 'server' && name === SEARCH_TOOLS;

/** Why the run cannot call it at all. */
function obstacleOf(
  turn: ChoosingTurn,
  listing: ToolListing,
  records: readonly CallRecord[],
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
function readUse(records: readonly CallRecord[], listings: readonly ToolListing[]) {
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

function toolsOfClientsAway(
  listings: readonly ToolListing[],
  records: readonly CallRecord[],
): string[] {
  const here = new Set(listings.map(({ name }) => name));
  const called = records.flatMap(({ source, toolName }) => (source === 'client' ? [toolName] : []));
  return [...new Set(called)].filter((name) => !here.has(name));
}

const byName = (a: RunTool, b: RunTool): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
