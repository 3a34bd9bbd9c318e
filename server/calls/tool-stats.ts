import { isDecided } from '#lib/protocol/is-decided';
import type { ToolStats } from '#lib/protocol/tool-stats';
import type { Store } from '../store/room.ts';

/** More ended calls than these are not looked at: the newest show how a tool does now. */
const MOST_CALLS = 5_000;
const MOST_TOOLS = 200;
const MOST_CLIENTS = 20;
const MOST_ERRORS = 3;
/** Words of clients for kinds of errors; they may have any number. */
const MOST_CLIENT_CODES = 20;

type EndedUse = Awaited<ReturnType<Store['toolUse']['recent']>>[number];

/**
 * How tools did of late, by the ends of real calls: of all owners, or of the holder of one
 * token. Throws `StoreBusyError`.
 */
export async function readToolStats(
  { toolUse }: Pick<Store, 'toolUse'>,
  ownerToken: string | undefined,
): Promise<ToolStats> {
  const uses = await toolUse.recent({
    limit: MOST_CALLS,
    ...(ownerToken === undefined ? {} : { ownerToken }),
  });
  const tools = largest(
    Map.groupBy(uses, ({ toolName }) => toolName),
    MOST_TOOLS,
  );
  return {
    calls: uses.length,
    from: endOf(uses, Math.min),
    to: endOf(uses, Math.max),
    tools: tools.map(([tool_name, ofTool]) => ({
      tool_name,
      ...figuresOf(ofTool),
      last_errors: lastErrors(ofTool),
      clients: clientsOf(ofTool),
    })),
  };
}

/** Unix seconds; null where no call is looked at. */
const endOf = (uses: readonly EndedUse[], which: (...times: number[]) => number) =>
  uses.length === 0 ? null : which(...uses.map(({ endedAt }) => endedAt)) / 1_000;

function clientsOf(ofTool: readonly EndedUse[]) {
  const byClient = Map.groupBy(ofTool, ({ clientId }) => clientId);
  return largest(byClient, MOST_CLIENTS).flatMap(([client_id, uses]) =>
    client_id === null ? [] : [{ client_id, ...figuresOf(uses) }],
  );
}

const largest = <Key>(groups: ReadonlyMap<Key, EndedUse[]>, most: number): [Key, EndedUse[]][] =>
  [...groups].toSorted(([, a], [, b]) => b.length - a.length).slice(0, most);

function figuresOf(uses: readonly EndedUse[]) {
  const times = uses
    .flatMap(({ startedAt, endedAt }) => (startedAt === null ? [] : [endedAt - startedAt]))
    .toSorted((a, b) => a - b);
  const failed = uses.filter(({ status }) => status !== 'SUCCEEDED');
  const byCode = Map.groupBy(failed, kindOf(failed));
  return {
    count: uses.length,
    succeeded: uses.length - failed.length,
    decided: failed.filter(({ code }) => isDecided(code)).length,
    expired: failed.filter(({ code }) => code === 'approval_expired').length,
    failures: Object.fromEntries([...byCode].map(([code, ended]) => [code, ended.length])),
    p50_ms: percentile(times, 0.5),
    p95_ms: percentile(times, 0.95),
    p99_ms: percentile(times, 0.99),
  };
}

/** By the tool's own word for its error where it has one, as far as these are few; never by one of ours for a decision. */
function kindOf(failed: readonly EndedUse[]): (use: EndedUse) => string {
  const own = Map.groupBy(failed, ({ clientCode }) => clientCode ?? '');
  const known = new Set(largest(own, MOST_CLIENT_CODES).map(([code]) => code));
  return ({ code, clientCode }) =>
    clientCode && known.has(clientCode) && !isDecided(clientCode)
      ? clientCode
      : (code ?? 'unknown');
}

/** The smallest that so large a part is not above (nearest rank); a clock that was set back gives 0. */
function percentile(sorted: readonly number[], part: number): number | null {
  const time = sorted[Math.ceil(sorted.length * part) - 1];
  return time === undefined ? null : Math.max(time, 0);
}

const lastErrors = (uses: readonly EndedUse[]) =>
  uses
    .filter(({ status, code }) => status !== 'SUCCEEDED' && !isDecided(code))
    .slice(0, MOST_ERRORS)
    .map(({ id, endedAt, code, clientCode, message }) => ({
      tool_call_id: id,
      at: endedAt / 1_000,
      code: clientCode ?? code ?? 'unknown',
      message: message ?? '',
    }));
