import type { Call } from '#lib/call/call';
import { isRerunnable } from '#lib/call/call-facts';
import { mayBeOffered } from '#lib/call/call-machine';
import { invalidArgs } from '#lib/call/call-outcome';
import type { NeverStarted } from '#lib/call/call-state';
import { sameJson } from '#lib/json/equal';
import type { CallError } from '#lib/protocol/call-status';
import { scopeOf } from '../approvals/room.ts';
import type { OfferedTool } from '../tools/room.ts';

/** A tool at one executor, and whether that answers and delivers now. */
export interface Candidate<Tool extends OfferedTool = OfferedTool> {
  readonly tool: Tool;
  readonly isAvailable: boolean;
}

/** The choice of who may take a call depends on these fields of it. */
export type RoutedCall = Pick<
  Call,
  | 'phase'
  | 'granted'
  | 'provider'
  | 'annotations'
  | 'wantedClientId'
  | 'routing'
  | 'args'
  | 'toolName'
>;

/** A tool takes a call, or a person is asked whether it may. */
export interface Taker<Tool extends OfferedTool = OfferedTool> {
  readonly to: 'executor' | 'approval';
  readonly tool: Tool;
  /** The call's, or repaired for a schema that has changed. */
  readonly args: Call['args'];
  /** Paths of those that were repaired now. */
  readonly repairs: readonly string[];
}

/** The call goes there next. */
export type Route<Tool extends OfferedTool = OfferedTool> =
  | Taker<Tool>
  /** It waits. */
  | { readonly to: 'no_executor' }
  | { readonly to: 'end'; readonly error: CallError };

const NO_EXECUTOR: Route<never> = { to: 'no_executor' };

/** Which of the candidates are looked at: one among thousands is found without the others. */
export interface Only {
  readonly clientId?: string;
  readonly schemaHash?: string;
  /** Clients that do not answer need not be among them. */
  readonly answering?: boolean;
}

/** Reads them from the first one on, each time anew, and no further than it is needed. */
type Candidates<Tool extends OfferedTool> = (only: Only) => IteratorObject<Candidate<Tool>>;
type Listed<Tool extends OfferedTool> = (
  only?: Pick<Only, 'answering'>,
) => IteratorObject<Candidate<Tool>>;

/**
 * Which of those who offer the tool now takes the call (rules CR1 to CR5).
 * `candidates` stand in the order in which they are asked, `first` is the first of them. Pure.
 */
export function routeCall<Tool extends OfferedTool>(
  call: RoutedCall,
  first: Candidate<Tool> | undefined,
  candidates: Candidates<Tool>,
  neverStarted?: NeverStarted,
): Route<Tool> {
  // Mostly it is the one: then none of the others is looked at.
  if (first && mayTake(call, first, neverStarted)) return toExecutor(call, first.tool);
  const { wantedClientId } = call;
  const possible: Candidates<Tool> = (only) =>
    candidates(only).filter(
      // A tool inside the server is wanted of no client: it is found by the reference alone.
      ({ tool: { clientId } }) =>
        wantedClientId === null || clientId === null || clientId === wantedClientId,
    );
  const { approval, onlyReads } = call.routing;
  if (approval) return routeApproved(call, possible, neverStarted);
  return onlyReads
    ? routeReading(call, possible, neverStarted)
    : routeBySchema(call, possible, neverStarted);
}

/** The first of all is the first of those that fit, too, so that this says what `firstAvailable` finds. */
function mayTake(
  call: RoutedCall,
  { tool, isAvailable }: Candidate,
  neverStarted: NeverStarted | undefined,
): boolean {
  const { approval, schemaHash, onlyReads } = call.routing;
  const isAllowed = approval
    ? sameJson(scopeOf(tool), approval)
    : schemaHash === tool.schemaHash && (!onlyReads || tool.annotations.readOnlyHint === true);
  return (
    isAvailable && isAllowed && mayBeOffered(call, { rerunnable: isRerunnable(tool), neverStarted })
  );
}

const toExecutor = <Tool extends OfferedTool>({ args }: RoutedCall, tool: Tool): Route<Tool> => ({
  to: 'executor',
  tool,
  args,
  repairs: [],
});

function routeBySchema<Tool extends OfferedTool>(
  call: RoutedCall,
  possible: Candidates<Tool>,
  neverStarted: NeverStarted | undefined,
): Route<Tool> {
  const { schemaHash, checkedForClientId } = call.routing;
  const sameSchema: Listed<Tool> = (only) =>
    schemaHash === null ? Iterator.from([]) : possible({ ...only, schemaHash });
  if (hasAny(sameSchema)) return firstAvailable(call, sameSchema, neverStarted);
  // Only the client whose schema it was may change it: another schema is another tool.
  const changed: Listed<Tool> =
    schemaHash === null
      ? (only = {}) => possible(only)
      : () => ofClient(possible, checkedForClientId);
  const route = firstAvailable(call, changed, neverStarted);
  return route.to === 'executor'
    ? unrepaired(call, checkAgain(call, route.tool, 'executor'))
    : route;
}

/** Arguments that the policy has not seen in this form go to no executor. */
const unrepaired = <Tool extends OfferedTool>(call: RoutedCall, route: Route<Tool>): Route<Tool> =>
  route.to !== 'executor' || route.repairs.length === 0
    ? route
    : { to: 'end', error: invalidArgs(call.toolName, route.repairs.map(changedSince)) };

const changedSince = (path: string) => ({
  path,
  problem: 'no longer has the type that the tool takes',
});

/** Null: the server's own tool. */
const ofClient = <Tool extends OfferedTool>(
  candidates: Candidates<Tool>,
  clientId: string | null,
): IteratorObject<Candidate<Tool>> =>
  clientId === null
    ? candidates({}).filter(({ tool }) => tool.clientId === null)
    : candidates({ clientId });

const hasAny = <Tool extends OfferedTool>(candidates: Listed<Tool>): boolean =>
  candidates().some(() => true);

function firstAvailable<Tool extends OfferedTool>(
  call: RoutedCall,
  candidates: Listed<Tool>,
  neverStarted: NeverStarted | undefined,
): Route<Tool> {
  // Whatever the others say of the tool: it may have started, and may not be repeated.
  if (!mayBeOffered(call, { rerunnable: true, neverStarted })) return NO_EXECUTOR;
  const asked = candidates({ answering: true }).find(
    ({ tool, isAvailable }) =>
      isAvailable && mayBeOffered(call, { rerunnable: isRerunnable(tool), neverStarted }),
  );
  return asked ? toExecutor(call, asked.tool) : NO_EXECUTOR;
}

/** An approved call runs where it was approved, as long as that tool is the one that was shown. */
function routeApproved<Tool extends OfferedTool>(
  call: RoutedCall,
  possible: Candidates<Tool>,
  neverStarted: NeverStarted | undefined,
): Route<Tool> {
  const { approval } = call.routing;
  const own: Listed<Tool> = () => ofClient(possible, approval?.clientId ?? null);
  const same: Listed<Tool> = () => own().filter(({ tool }) => sameJson(scopeOf(tool), approval));
  if (hasAny(same)) return firstAvailable(call, same, neverStarted);
  return routeChanged(
    call,
    possible,
    own().find(() => true),
  );
}

/** A call that was allowed as one that only reads goes to any tool that says so, as long as there is one. */
function routeReading<Tool extends OfferedTool>(
  call: RoutedCall,
  possible: Candidates<Tool>,
  neverStarted: NeverStarted | undefined,
): Route<Tool> {
  const readers: Candidates<Tool> = (only) =>
    possible(only).filter(({ tool }) => tool.annotations.readOnlyHint === true);
  if (hasAny(() => readers({}))) return routeBySchema(call, readers, neverStarted);
  const clientId = call.provider?.clientId ?? call.routing.checkedForClientId;
  return routeChanged(
    call,
    possible,
    ofClient(possible, clientId).find(() => true),
  );
}

/** None that offers the tool now was allowed. `changed` is the one that was. */
function routeChanged<Tool extends OfferedTool>(
  call: RoutedCall,
  possible: Candidates<Tool>,
  changed: Candidate<Tool> | undefined,
): Route<Tool> {
  if (call.phase === 'queued') {
    const next =
      changed ??
      possible({ answering: true }).find(({ isAvailable }) => isAvailable) ??
      possible({}).find(() => true);
    return next ? checkAgain(call, next.tool, 'approval') : NO_EXECUTOR;
  }
  // A status never goes back, so it cannot wait for a yes again.
  return changed && call.phase === 'offered' ? { to: 'end', error: CHANGED } : NO_EXECUTOR;
}

const CHANGED: CallError = {
  code: 'denied',
  message: 'The tool changed after the call was allowed; retry it to be asked again',
  executed: 'no',
};

function checkAgain<Tool extends OfferedTool>(
  call: RoutedCall,
  tool: Tool,
  to: 'executor' | 'approval',
): Route<Tool> {
  const checked = tool.check(call.args);
  if (checked.ok) {
    const { repairs } = checked;
    return { to, tool, repairs, args: repairs.length > 0 ? checked.args : call.args };
  }
  return { to: 'end', error: invalidArgs(call.toolName, checked.details) };
}
