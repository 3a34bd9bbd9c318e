'use client';

import { createContext, use } from 'react';
import { useStore } from 'zustand';
import { useShallow } from 'zustand/react/shallow';
import type { Api } from '#lib/api/http-client';
import type { AutonomyLevel } from '#lib/policy/autonomy';
import type { WireAutonomy } from '#lib/policy/policy-wire';
import { hasRole, type Role } from '#lib/protocol/role';
import type { Message, ModelListing, RunSummary } from '#lib/protocol/run';
import type { WireMe } from '#lib/protocol/token';
import type { ToolListing } from '#lib/protocol/tool-spec';
import type { ApprovalListing, ClientListing } from '#lib/protocol/watch-messages';
import { type AutonomyStore, effectiveLevel, ownLevel } from '#lib/stores/autonomy-store';
import type { CallEntry, CallsState, CallsStore } from '#lib/stores/calls-store';
import type { ConnectionState, ConnectionStore } from '#lib/stores/connection-store';
import type { DevicePrompt, DevicePromptsStore } from '#lib/stores/device-prompts-store';
import type { DevicesState, DevicesStore } from '#lib/stores/devices-store';
import type { ListingsStore } from '#lib/stores/listings-store';
import type { MeStore } from '#lib/stores/me-store';
import type { ModelsStore } from '#lib/stores/models-store';
import type {
  OlderCallsState,
  OlderCallsStore,
  RunPages,
  Single,
} from '#lib/stores/older-calls-store';
import { newestRuns, type RunsStore } from '#lib/stores/runs-store';
import type { TabState, TabStore } from '#lib/stores/tab-store';
import type { RevealState, RevealStore, UiState, UiStore } from '#lib/stores/ui-store';
import { own } from '#lib/util/own';

/** Everything that a page's components share: stores fed by the watch feed, and the HTTP API. */
export interface Workbench {
  readonly api: Api;
  readonly calls: CallsStore;
  /** Calls that the feed does not name, fetched when a person reaches them. */
  readonly older: OlderCallsStore;
  readonly runs: RunsStore;
  readonly listings: ListingsStore;
  readonly connection: ConnectionStore;
  /** Who is signed in. */
  readonly me: MeStore;
  /** How much agents do without a person. */
  readonly autonomy: AutonomyStore;
  /** What of pairing waits for a person. */
  readonly devices: DevicesStore;
  readonly models: ModelsStore;
  /** This tab as a client of the server: its id, its tools, whether it is connected. */
  readonly tab: TabStore;
  /** Questions to the person at this device, asked by this tab's tools. */
  readonly prompts: DevicePromptsStore;
  readonly reveal: RevealStore;
  readonly ui: UiStore;
}

export const WorkbenchContext = createContext<Workbench | null>(null);

export function useWorkbench(): Workbench {
  const workbench = use(WorkbenchContext);
  if (!workbench) throw new Error('This component must be inside WorkbenchProvider.');
  return workbench;
}

export const useApi = (): Api => useWorkbench().api;

/** Any view of the calls. The selector must give the same value for the same state. */
export const useCalls = <T,>(selector: (state: CallsState) => T): T =>
  useStore(useWorkbench().calls, selector);

/** Any view of the calls of before. The selector must give the same value for the same state. */
export const useOlderCalls = <T,>(selector: (state: OlderCallsState) => T): T =>
  useStore(useWorkbench().older, selector);

/** A call of the feed, else of before. Renders again only when this one call's entry changes. */
export function useCall(callId: string): CallEntry | undefined {
  const live = useCalls((state) => own(state.byId, callId));
  const older = useOlderCalls((state) => own(state.byId, callId));
  return live ?? older;
}

/** Whether a call of before is on its way by its id, or could not be had. */
export const useSingleCall = (callId: string): Single | undefined =>
  useOlderCalls((state) => own(state.single, callId));

/** How far the older calls of a run have been fetched; undefined before the first page. */
export const useRunPages = (runId: string | undefined): RunPages | undefined =>
  useOlderCalls((state) => (runId === undefined ? undefined : own(state.pages, runId)));

export const useConnection = (): ConnectionState => useStore(useWorkbench().connection);

/** Newest first. */
export const useRuns = (): readonly RunSummary[] =>
  useStore(useWorkbench().runs, useShallow(newestRuns));

export const useRun = (runId: string | null): RunSummary | undefined =>
  useStore(useWorkbench().runs, (state) => (runId === null ? undefined : own(state.runs, runId)));

/** Of a conversation; that of a program's run is the name of its first tool, and says less than its id. */
const titleOf = (run: RunSummary | undefined): string | undefined =>
  run?.model == null ? undefined : run.title || undefined;

/** Undefined where it has none, or is not known. */
export const useTitle = (runId: string): string | undefined =>
  useStore(useWorkbench().runs, (state) => titleOf(own(state.runs, runId)));

/** The titles of conversations; for others the id. */
export function useTitles(): (runId: string) => string {
  const runs = useStore(useWorkbench().runs, (state) => state.runs);
  return (runId) => titleOf(own(runs, runId)) ?? runId;
}

/** False for a run that is not known, and for one that came without its messages. */
export const useHasMessages = (runId: string | null): boolean =>
  useStore(useWorkbench().runs, (state) => runId !== null && Object.hasOwn(state.messages, runId));

/** Who is signed in; null until the server has answered. */
export const useMe = (): WireMe | null => useStore(useWorkbench().me, ({ me }) => me);

/** Whether the person signed in has this role or a higher one; false until that is known. */
export function useHasRole(least: Role): boolean {
  const role = useMe()?.role;
  return role ? hasRole(role, least) : false;
}

/** Whether the person signed in reads only; false until that is known. */
export const useIsViewer = (): boolean => useMe()?.role === 'viewer';

/** How much agents do without a person, for all runs and for single ones; null until that is known. */
export const useAutonomy = (): WireAutonomy | null =>
  useStore(useWorkbench().autonomy, ({ autonomy }) => autonomy);

/** How much agents do without a person, for all runs; null until that is known. */
export const useAutonomyLevel = (): AutonomyLevel | null =>
  useStore(useWorkbench().autonomy, ({ autonomy }) => autonomy?.level ?? null);

/** The level of its own that a run has; undefined: it goes by that of all. */
export const useOwnLevel = (runId: string): AutonomyLevel | undefined =>
  useStore(useWorkbench().autonomy, ({ autonomy }) => ownLevel(autonomy, runId));

/** The level that counts for a run; null until that is known. */
export function useLevelOfRun(runId: string): AutonomyLevel | null {
  const rootId = useStore(useWorkbench().runs, (state) => rootOf(state.runs, runId));
  return useStore(useWorkbench().autonomy, ({ autonomy }) =>
    effectiveLevel(autonomy, runId, rootId),
  );
}

/** More than sub-agents can stand above each other. */
const MOST_ABOVE = 8;

/** The run that a person or a program began, as far as the runs above are known. */
function rootOf(runs: Readonly<Record<string, RunSummary>>, runId: string): string {
  let id = runId;
  for (let steps = 0; steps < MOST_ABOVE; steps += 1) {
    const parent = own(runs, id)?.parent?.run_id;
    if (parent === undefined) return id;
    id = parent;
  }
  return id;
}

const NO_MESSAGES: readonly Message[] = [];

/** Oldest first. */
export const useMessages = (runId: string | null): readonly Message[] =>
  useStore(useWorkbench().runs, (state) =>
    runId === null ? NO_MESSAGES : (own(state.messages, runId) ?? NO_MESSAGES),
  );

export const useTools = (): readonly ToolListing[] =>
  useStore(useWorkbench().listings, (state) => state.tools);

export const useClients = (): readonly ClientListing[] =>
  useStore(useWorkbench().listings, (state) => state.clients);

/** Renders again only when this tool's listing changes. */
export const useTool = (name: string | undefined): ToolListing | undefined =>
  useStore(useWorkbench().listings, ({ tools }) => tools.find((tool) => tool.name === name));

/** Whether the client is connected and does not answer. */
export const useIsSilent = (clientId: string | null | undefined): boolean =>
  useStore(useWorkbench().listings, ({ clients }) => {
    const own = clients.filter((client) => client.client_id === clientId && client.connected);
    return own.length > 0 && own.every((client) => !client.responsive);
  });

export const useApprovals = (): readonly ApprovalListing[] =>
  useStore(useWorkbench().listings, (state) => state.approvals);

/** Calls that wait as well, which the feed had no room for. */
export const useApprovalsLeftOut = (): number =>
  useStore(useWorkbench().listings, (state) => state.approvalsLeftOut);

/** False until the first snapshot came: lists that are empty are then not known yet. */
export const useListingsKnown = (): boolean =>
  useStore(useWorkbench().listings, (state) => state.known);

/** False until the newest calls that have ended are here, too: one that is not is then not known yet. */
export function useCallsKnown(): boolean {
  const isPart = useCalls((state) => state.isPart === true);
  return useListingsKnown() && !isPart;
}

/** Rises whenever pairings or devices may be others than they were. */
export const useDeviceChanges = (): number =>
  useStore(useWorkbench().devices, ({ changes }) => changes);

/** What of pairing waits for a person. */
export const useDevicesWaiting = (): Pick<DevicesState, 'asking' | 'waiting'> =>
  useStore(
    useWorkbench().devices,
    useShallow(({ asking, waiting }) => ({ asking, waiting })),
  );

export const useModels = (): readonly ModelListing[] =>
  useStore(useWorkbench().models, (state) => state.models);

/** Model reference that new messages go to; null while models are not known. */
export const useChosenModel = (): string | null =>
  useStore(useWorkbench().models, (state) => state.chosen);

export const useUi = <T,>(selector: (state: UiState) => T): T =>
  useStore(useWorkbench().ui, selector);

/** Announces a text once to screen readers. */
export const useAnnounce = (): UiState['announce'] => useUi((state) => state.announce);

export const useDevicePrompts = (): readonly DevicePrompt[] =>
  useStore(useWorkbench().prompts, (state) => state.waiting);

export const useTab = (): TabState => useStore(useWorkbench().tab);

/**
 * The card that a person asked to see, e.g. from the transcript. What draws
 * the list scrolls to it and focuses it whenever `nonce` rises.
 */
export const useRevealedCall = (): Pick<RevealState, 'callId' | 'nonce'> =>
  useStore(
    useWorkbench().reveal,
    useShallow(({ callId, nonce }) => ({ callId, nonce })),
  );

export const useRevealCall = (): RevealState['reveal'] =>
  useStore(useWorkbench().reveal, (state) => state.reveal);
