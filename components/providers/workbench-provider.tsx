'use client';

import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { isRecord } from '#lib/json/is-record';
import { REASONING_EFFORTS } from '#lib/protocol/reasoning-efforts';
import type { NewSettings } from '#lib/protocol/run';
import { keepStoreFailed } from '#lib/stores/keep-store-failed';
import { isOutdated } from '#lib/stores/models-store';
import type { WatchFeed } from '#lib/stores/watch-feed';
import { onLateCodeFailed, retryLateCode } from '../ui/late-code.ts';
import { createWorkbench } from './create-workbench.ts';
import { FeedContext } from './feed-context.tsx';
import { keepAutonomy } from './keep-autonomy.ts';
import { keepMe } from './keep-me.ts';
import { pageFetch } from './page-session.ts';
import { keepPushNotes } from './push-choice.ts';
import { reloadOutdated } from './reload-outdated.ts';
import { startFeed } from './start-feed.ts';
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
