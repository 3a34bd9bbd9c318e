import type { DevicePrompts } from '#lib/browser-tools/browser-env';
import { type GroupedTool, groupedBrowserTools } from '#lib/browser-tools/browser-tools';
import { createBrowserEnv } from '#lib/browser-tools/create-browser-env';
import { watchClientState } from '#lib/browser-tools/watch-client-state';
import { createBrowserParts } from '#lib/client/browser-environment';
import { type ClientToolDefinition, toToolSpec } from '#lib/client/client-tool';
import { createHttpUploadBlob } from '#lib/client/encode-answer';
import { createToolClient, type ToolClient } from '#lib/client/tool-client';
import { CLOSE } from '#lib/protocol/close-codes';
import { PROTOCOL, toCredentialProtocol } from '#lib/protocol/subprotocols';
import { errorMessage } from '#lib/util/error-message';
import type { PairedDevice } from './device-memory.ts';
import { type Connection, type DeviceStore, type OwnTool, ruleOf } from './device-store.ts';
import { gateTool } from './gate-tool.ts';
import type { PairingApi } from './pairing-api.ts';

// The heavy part of the page: the client library and the tools. It is loaded when there is need.

const NO_PROMPTS: DevicePrompts = { ask: async () => 'denied', show: async () => 'closed' };

/** What this browser could offer. */
export const listDeviceTools = (): OwnTool[] =>
  groupedBrowserTools(createBrowserEnv(), NO_PROMPTS).map(toOwnTool);

const toOwnTool = ({ group, tool }: GroupedTool): OwnTool => ({ group, spec: toToolSpec(tool) });

export interface DeviceOptions {
  readonly kept: PairedDevice;
  readonly store: DeviceStore;
  readonly api: PairingApi;
  readonly onProblem: (message: string) => void;
}

/** Makes this page the device that was let in. */
export function startDevice(options: DeviceOptions) {
  const { kept, store, onProblem } = options;
  const env = createBrowserEnv();
  const isVisible = () => env.visibility() === 'visible';
  const gate = { store, isVisible, now: Date.now };
  const prompts = createPagePrompts(store, loadBlob(kept.token));
  const grouped = groupedBrowserTools(env, prompts);
  const tools = grouped.map(({ tool }) => gateTool(tool, gate));
  store.setState({ tools: grouped.map(toOwnTool) });
  const client = createDeviceClient(options, tools);
  const showStatus = () => store.setState({ connection: toConnection(client, store, options) });
  const ends = [
    client.status.subscribe(showStatus),
    client.registered.subscribe(showStatus),
    followRules(store, client, tools),
    watchClientState({
      env,
      toolNames: tools.map(({ name }) => name),
      report(state) {
        store.setState({ permissions: state.permissions ?? {} });
        client.reportState({ ...state, permissions: ofOffered(store, state.permissions) });
      },
    }),
    env.onTouch(client.reportTouch),
  ];
  const start = () =>
    client.start().catch((error: unknown) => {
      store.setState({ connection: { state: 'failed', reason: errorMessage(error) } });
    });
  const stop = () => client.stop().catch((error: unknown) => onProblem(errorMessage(error)));
  const page = onlyPage(kept.device_id ?? 'device', () => {
    void stop().then(() => store.setState({ connection: { state: 'elsewhere' } }));
  });
  void start();
  return {
    retryNow: client.retryNow,
    /** Makes this page the device again, after another tab took over. */
    takeOver() {
      page.take();
      void start();
    },
    /** After a person at the workbench ended the connection. */
    connectAgain() {
      void stop().then(start);
    },
    async stop() {
      page.end();
      for (const end of ends) end();
      await stop();
    },
  };
}

export type RunningDevice = ReturnType<typeof startDevice>;

function createDeviceClient(
  { kept, store, api, onProblem }: DeviceOptions,
  tools: readonly ClientToolDefinition[],
): ToolClient {
  const { protocol, host } = location;
  const { rules } = store.getState();
  return createToolClient({
    // A name of the device's own: another pairing of this browser is another client.
    ...createBrowserParts({ onProblem, scope: kept.device_id ?? 'device' }),
    url: `${protocol === 'https:' ? 'wss:' : 'ws:'}//${host}/ws/client`,
    protocols: [PROTOCOL, toCredentialProtocol('bearer', kept.token)],
    name: kept.name,
    kind: 'phone',
    tools: tools.filter(({ name }) => ruleOf(rules, name) !== 'off'),
    uploadBlob: createHttpUploadBlob({
      baseUrl: '',
      fetch: (url, init) => fetch(url, init),
      headers: { authorization: `Bearer ${kept.token}` },
    }),
    isRefused: async () => {
      const answer = await api.outcome(kept.token);
      return answer.ok && answer.value.state !== 'approved';
    },
    onRejectedTools: store.getState().noteAdmission,
    onProblem,
  });
}

function toConnection(client: ToolClient, store: DeviceStore, options: DeviceOptions): Connection {
  const { status, registered } = client;
  const now = status.get();
  if (now.state === 'connected') store.setState({ transport: now.transport });
  switch (now.state) {
    case 'connected':
      return { state: registered.get() ? 'connected' : 'connecting' };
    case 'connecting':
      // The server takes each tool anew, or refuses it.
      store.setState({ rejected: {} });
      return { state: 'connecting' };
    case 'reconnecting':
      return { state: 'reconnecting', attempt: now.attempt, retryAt: now.retryAt };
    case 'refused':
      void nameRefusal(client, store, options);
      if (now.code === CLOSE.disconnected) return { state: 'disconnected' };
      return { state: 'refused', reason: now.reason };
    case 'stopped':
      return { state: 'starting' };
  }
}

/** A token that counts no more may be revoked or unknown; the outcome of the pairing has the reason. */
async function nameRefusal(
  client: ToolClient,
  store: DeviceStore,
  { api, kept, onProblem }: DeviceOptions,
) {
  const answer = await api.outcome(kept.token);
  if (!answer.ok || answer.value.state === 'approved') return;
  const state = answer.value.state === 'revoked' ? 'revoked' : 'unknown';
  await client.stop().catch((error: unknown) => onProblem(errorMessage(error)));
  store.setState({ connection: { state } });
}

/** A tool that is switched off is not offered. */
function followRules(
  store: DeviceStore,
  client: ToolClient,
  tools: readonly ClientToolDefinition[],
): () => void {
  return store.subscribe(({ rules }, before) => {
    if (rules === before.rules) return;
    for (const tool of tools) {
      const isOff = ruleOf(rules, tool.name) === 'off';
      if (isOff === (ruleOf(before.rules, tool.name) === 'off')) continue;
      // What was known of it is of before; the server replies to what is offered now.
      store.getState().noteAdmission([], [tool.name]);
      if (isOff) client.unregister(tool.name);
      else client.register(tool);
    }
  });
}

type Permissions = NonNullable<Parameters<ToolClient['reportState']>[0]['permissions']>;

function ofOffered(store: DeviceStore, permissions: Permissions = {}): Permissions {
  const { rules } = store.getState();
  const offered = Object.entries(permissions).filter(([name]) => ruleOf(rules, name) !== 'off');
  return Object.fromEntries(offered);
}

/** A picture that the server keeps, as an address for this page. */
const loadBlob = (token: string) => async (id: string) => {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`/v1/blobs/${encodeURIComponent(id)}`, { headers });
  if (!response.ok) throw new Error(`the picture was answered with ${response.status}`);
  return URL.createObjectURL(await response.blob());
};

/** Of the tabs of this browser the newest is the device: two would be asked the same. */
function onlyPage(id: string, onTaken: () => void): { take(): void; end(): void } {
  const name = `callboard:device:${id}`;
  const channel = 'BroadcastChannel' in globalThis ? new BroadcastChannel(name) : null;
  channel?.addEventListener('message', onTaken);
  const take = () => channel?.postMessage('taken');
  take();
  return { take, end: () => channel?.close() };
}

/** What tools ask of the person, on the same sheet as the rules do. */
export function createPagePrompts(
  store: DeviceStore,
  loadBlob: (id: string) => Promise<string>,
): Required<DevicePrompts> {
  const { ask, isInTap } = store.getState();
  return {
    isInTap,
    async ask(prompt) {
      const { isAllowed } = await ask({ ...prompt, requestedBy: undefined });
      return isAllowed ? 'allowed' : 'denied';
    },
    async show({ callId, tool, title, text, image, buttons, input, signal }) {
      const picture = image && ('dataUrl' in image ? image.dataUrl : await loadBlob(image.blobId));
      const shown = { title, text, picture, buttons, input };
      const decision = await ask({ callId, tool, requestedBy: undefined, shown, signal });
      if (picture?.startsWith('blob:')) URL.revokeObjectURL(picture);
      if (!decision.isAllowed) return 'closed';
      return { button: decision.button ?? null, text: decision.reason };
    },
  };
}
