import type { Call } from '#lib/call/call';
import { isRerunnable } from '#lib/call/call';
import { mayBeOffered } from '#lib/call/call-machine';
import { invalidArgs } from '#lib/call/call-outcome';
import type { NeverStarted } from '#lib/call/call-state';
import { sameJson } from '#lib/json/equal';
import type { CallError } from '#lib/protocol/call-status';
import { scopeOf } from '../approvals/room.ts';
import type { AnyTool } from '../tools/room.ts';

/** A tool at one executor, and whether that answers and delivers now. */
export interface Candidate {
  readonly tool: AnyTool;
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
export interface Taker {
  readonly to: 'executor' | 'approval';
  readonly tool: AnyTool;
  /** The call's, or repaired for a schema that has changed. */
  readonly args: Call['args'];
  /** Paths of those that were repaired now. */
  readonly repairs: readonly string[];
}

/** The call goes there next. */
export type Route =
  | Taker
  /** It waits. */
  | { readonly to: 'no_executor' }
  | { readonly to: 'end'; readonly error: CallError };

const NO_EXECUTOR: Route = { to: 'no_executor' };

/** Which of the candidates are looked at: one among thousands is found without the others. */
export interface Only {
  readonly clientId?: string;
  readonly schemaHash?: string;
  /** Clients that do not answer need not be among them. */
  readonly answering?: boolean;
}

/** Reads them from the first one on, each time anew, and no further than it is needed. */
type Candidates = (only: Only) => IteratorObject<Candidate>;
type Listed = (only?: Pick<Only, 'answering'>) => IteratorObject<Candidate>;

/**
 * Which of those who offer the tool now takes the call (rules CR1 to CR5).
 * `candidates` stand in the order in which they are asked, `first` is the first of them. Pure.
 */
export function routeCall(
  call: RoutedCall,
  first: Candidate | undefined,
  candidates: Candidates,
  neverStarted?: NeverStarted,
): Route {
  // Mostly it is the one: then none of the others is looked at.
  if (first && mayTake(call, first, neverStarted)) return toExecutor(call, first.tool);
  const { wantedClientId } = call;
  const possible: Candidates = (only) =>
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

const toExecutor = ({ args }: RoutedCall, tool: AnyTool): Route => ({
  to: 'executor',
  tool,
  args,
  repairs: [],
});

function routeBySchema(
  call: RoutedCall,
  possible: Candidates,
  neverStarted: NeverStarted | undefined,
): Route {
  const { schemaHash, checkedForClientId } = call.routing;
  const sameSchema: Listed = (only) =>
    schemaHash === null ? Iterator.from([]) : possible({ ...only, schemaHash });
  if (hasAny(sameSchema)) return firstAvailable(call, sameSchema, neverStarted);
  // Only the client whose schema it was may change it: another schema is another tool.
  const changed: Listed =
    schemaHash === null
      ? (only = {}) => possible(only)
      : () => ofClient(possible, checkedForClientId);
  const route = firstAvailable(call, changed, neverStarted);
  return route.to === 'executor'
    ? unrepaired(call, checkAgain(call, route.tool, 'executor'))
    : route;
}

/** Arguments that the policy has not seen in this form go to no executor. */
const unrepaired = (call: RoutedCall, route: Route): Route =>
  route.to !== 'executor' || route.repairs.length === 0
    ? route
    : { to: 'end', error: invalidArgs(call.toolName, route.repairs.map(changedSince)) };

const changedSince = (path: string) => ({
  path,
  problem: 'no longer has the type that the tool takes',
});

/** Null: the server's own tool. */
const ofClient = (candidates: Candidates, clientId: string | null): IteratorObject<Candidate> =>
  clientId === null
    ? candidates({}).filter(({ tool }) => tool.clientId === null)
    : candidates({ clientId });

const hasAny = (candidates: Listed): boolean => candidates().some(() => true);

function firstAvailable(
  call: RoutedCall,
  candidates: Listed,
  neverStarted: NeverStarted | undefined,
): Route {
  // Whatever the others say of the tool: it may have started, and may not be repeated.
  if (!mayBeOffered(call, { rerunnable: true, neverStarted })) return NO_EXECUTOR;
  const asked = candidates({ answering: true }).find(
    ({ tool, isAvailable }) =>
      isAvailable && mayBeOffered(call, { rerunnable: isRerunnable(tool), neverStarted }),
  );
  return asked ? toExecutor(call, asked.tool) : NO_EXECUTOR;
}

/** An approved call runs where it was approved, as long as that tool is the one that was shown. */
function routeApproved(
  call: RoutedCall,
  possible: Candidates,
  neverStarted: NeverStarted | undefined,
): Route {
  const { approval } = call.routing;
  const own: Listed = () => ofClient(possible, approval?.clientId ?? null);
  const same: Listed = () => own().filter(({ tool }) => sameJson(scopeOf(tool), approval));
  if (hasAny(same)) return firstAvailable(call, same, neverStarted);
  return routeChanged(
    call,
    possible,
    own().find(() => true),
  );
}

/** A call that was allowed as one that only reads goes to any tool that says so, as long as there is one. */
function routeReading(
  call: RoutedCall,
  possible: Candidates,
  neverStarted: NeverStarted | undefined,
): Route {
  const readers: Candidates = (only) =>
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
function routeChanged(
  call: RoutedCall,
  possible: Candidates,
  changed: Candidate | undefined,
): Route {
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

function checkAgain(call: RoutedCall, tool: AnyTool, to: 'executor' | 'approval'): Route {
  const checked = tool.check(call.args);
  if (checked.ok) {
    const { repairs } = checked;
    return { to, tool, repairs, args: repairs.length > 0 ? checked.args : call.args };
  }
  return { to: 'end', error: invalidArgs(call.toolName, checked.details) };
}
