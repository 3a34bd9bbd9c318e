'use client';

import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { createApi } from '#lib/api/http-client';
import type { ApiDeps } from '#lib/api/send-request';
import { createBrowserEnvironment } from '#lib/client/browser-environment';
import { isRecord } from '#lib/json/is-record';
import { REASONING_EFFORTS } from '#lib/protocol/reasoning-efforts';
import type { NewSettings } from '#lib/protocol/run';
import { createAutonomyStore } from '#lib/stores/autonomy-store';
import { createCallsStore, runsThatLost } from '#lib/stores/calls-store';
import { createConnectionStore, feedChanged, keepStoreFailed } from '#lib/stores/connection-store';
import { createDevicePromptsStore } from '#lib/stores/device-prompts-store';
import { createDevicesStore } from '#lib/stores/devices-store';
import { findGap } from '#lib/stores/find-gap';
import { createListingsStore } from '#lib/stores/listings-store';
import { createMeStore } from '#lib/stores/me-store';
import { createModelsStore, isOutdated } from '#lib/stores/models-store';
import { createOlderCallsStore } from '#lib/stores/older-calls-store';
import { createRunsStore } from '#lib/stores/runs-store';
import { createTabStore, registeredClient } from '#lib/stores/tab-store';
import { createRevealStore, createUiStore } from '#lib/stores/ui-store';
import { createFrameScheduler, WatchFeed } from '#lib/stores/watch-feed';
import { onLateCodeFailed, retryLateCode } from '../ui/late-code.ts';
import { FeedContext } from './feed-context.tsx';
import { keepAutonomy } from './keep-autonomy.ts';
import { keepMe } from './keep-me.ts';
import { pageFetch, pageProtocols } from './page-session.ts';
import { keepPushNotes } from './push-choice.ts';
import { reloadOutdated } from './reload-outdated.ts';
import { socketUrl } from './socket-url.ts';
import { browserMemory } from './stored-text.ts';
import { type Workbench, WorkbenchContext } from './workbench-context.tsx';

const MODEL_KEY = 'callboard:model';
const SETTINGS_KEY = 'callboard:model-settings';

/** Builds the stores once and keeps them fed while the page is open. */
export function WorkbenchProvider({ children }: { children: ReactNode }) {
  const [workbench] = useState(() => createWorkbench({ fetch: pageFetch, baseUrl: '' }));
  const feed = useRef<WatchFeed | null>(null);
  useEffect(
    () => keepStoreFailed({ connection: workbench.connection, isReady: workbench.api.isReady }),
    [workbench],
  );
  useEffect(() => {
    const started = startFeed(workbench);
    feed.current = started;
    return () => started.close();
  }, [workbench]);
  useEffect(() => keepMe(workbench), [workbench]);
  useEffect(() => keepModels(workbench), [workbench]);
  useEffect(() => keepAutonomy(workbench), [workbench]);
  useEffect(() => keepPushNotes(workbench), [workbench]);
  useEffect(() => keepLateCode(workbench), [workbench]);
  const control = useMemo(() => ({ retryNow: () => feed.current?.retryNow() }), []);
  return (
    <WorkbenchContext value={workbench}>
      <FeedContext value={control}>{children}</FeedContext>
    </WorkbenchContext>
  );
}

/** Code that could not be fetched is fetched when the network or the server is back; a server that has it no more is asked for the page. */
function keepLateCode({ connection }: Workbench): () => void {
  window.addEventListener('online', retryLateCode);
  const stopConnection = connection.subscribe((now, before) => {
    if (now.feed.kind !== 'connected' || before.feed.kind === 'connected') return;
    retryLateCode();
    void reloadOutdated();
  });
  const stopFailures = onLateCodeFailed(() => void reloadOutdated());
  return () => {
    stopFailures();
    window.removeEventListener('online', retryLateCode);
    stopConnection();
  };
}

/** Loads the models at each connection, since a server that restarted may have others. */
function keepModels({ api, connection, models, runs }: Workbench): () => void {
  const kept = browserMemory.read(SETTINGS_KEY);
  if (kept !== null) models.getState().ask(readSettings(kept));
  const load = async () => {
    const answer = await api.listModels();
    if (!answer.ok) return;
    const picked = models.getState().picked ?? browserMemory.read(MODEL_KEY);
    models.getState().load(answer.value.models, picked);
  };
  const stopConnection = connection.subscribe((now, before) => {
    if (now.feed.kind === 'connected' && before.feed.kind !== 'connected') void load();
  });
  const stopModels = models.subscribe((now, before) => {
    if (before.chosen !== null && now.picked !== before.picked) {
      browserMemory.write(MODEL_KEY, now.picked);
    }
    if (now.settings !== before.settings) {
      browserMemory.write(SETTINGS_KEY, JSON.stringify(now.settings));
    }
  });
  const stopRuns = runs.subscribe((now, before) => {
    if (now.runs !== before.runs && isOutdated(models.getState().models, now.runs)) void load();
  });
  return () => {
    stopConnection();
    stopModels();
    stopRuns();
  };
}

/** As a version of this page kept them; what the server would refuse is left out. */
function readSettings(text: string): NewSettings {
  const kept = parseRecord(text);
  const { instructions, temperature: heat } = kept;
  return {
    instructions: typeof instructions === 'string' ? instructions : null,
    temperature: typeof heat === 'number' && heat >= 0 && heat <= 2 ? heat : null,
    reasoning_effort: REASONING_EFFORTS.find((one) => one === kept.reasoning_effort) ?? null,
  };
}

function parseRecord(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : {};
  } catch {
    return {}; // Not JSON, so not kept by this page.
  }
}

/** Connects a workbench's stores to the watch socket of the server that served the page. */
function startFeed(workbench: Workbench): WatchFeed {
  const { calls, older, runs, listings, autonomy, devices, connection, api } = workbench;
  const environment = createBrowserEnvironment(pageProtocols);
  const fed = [calls, runs, listings];
  return new WatchFeed({
    environment,
    url: socketUrl('/ws/watch', location),
    schedule: createFrameScheduler({
      requestFrame: (run) => requestAnimationFrame(run),
      schedule: environment.schedule,
    }),
    isOnline: () => navigator.onLine,
    hasAccess: async () => {
      const answer = await api.listModels();
      return answer.ok || answer.status !== 401;
    },
    findGap: (events) => findGap(calls.getState(), runs.getState(), events),
    onSnapshot: (snapshot) => {
      const before = calls.getState();
      for (const store of fed) store.getState().replace(snapshot);
      autonomy.getState().replace();
      devices.getState().replace(snapshot);
      older.getState().renew(runsThatLost(before, calls.getState()));
    },
    onEnded: (part) => calls.getState().add(part),
    onEvents: (events) => {
      for (const store of [...fed, autonomy, devices]) store.getState().apply(events);
    },
    onState: (feed) => connection.setState(feedChanged(feed, Date.now())),
    onCaughtUp: (events) => connection.setState({ caughtUp: { events, at: Date.now() } }),
    onProblem: (message) => console.warn(`watch feed: ${message}`),
  });
}

/** The empty workbench of one page; `startFeed` fills it. */
export function createWorkbench(deps: ApiDeps): Workbench {
  const tab = createTabStore();
  const calls = createCallsStore();
  const api = createApi({
    ...deps,
    askingClient: () => registeredClient(tab),
    onCallDeleted: (callId) => {
      for (const store of [calls, older]) store.getState().markDeleted(callId);
    },
  });
  const older = createOlderCallsStore(api);
  return {
    api,
    calls,
    older,
    runs: createRunsStore(),
    listings: createListingsStore(),
    connection: createConnectionStore(),
    me: createMeStore(),
    autonomy: createAutonomyStore(),
    devices: createDevicesStore(),
    models: createModelsStore(),
    tab,
    prompts: createDevicePromptsStore(),
    reveal: createRevealStore(),
    ui: createUiStore(),
  };
}
