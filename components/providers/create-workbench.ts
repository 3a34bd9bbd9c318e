import { createApi } from '#lib/api/http-client';
import type { ApiDeps } from '#lib/api/send-request';
import { createAutonomyStore } from '#lib/stores/autonomy-store';
import { createCallsStore } from '#lib/stores/calls-store';
import { createConnectionStore } from '#lib/stores/connection-store';
import { createDevicePromptsStore } from '#lib/stores/device-prompts-store';
import { createDevicesStore } from '#lib/stores/devices-store';
import { createListingsStore } from '#lib/stores/listings-store';
import { createMeStore } from '#lib/stores/me-store';
import { createModelsStore } from '#lib/stores/models-store';
import { createOlderCallsStore } from '#lib/stores/older-calls-store';
import { createRevealStore } from '#lib/stores/reveal-store';
import { createRunsStore } from '#lib/stores/runs-store';
import { createTabStore, registeredClient } from '#lib/stores/tab-store';
import { createUiStore } from '#lib/stores/ui-store';
import type { Workbench } from './workbench-context.tsx';

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
