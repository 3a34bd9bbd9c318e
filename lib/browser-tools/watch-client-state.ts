import type { ClientState } from '../client/tool-client.ts';
import type { PermissionName } from './browser-env.ts';
import type { BrowserEnv } from './create-browser-env.ts';

type Env = Pick<
  BrowserEnv,
  'battery' | 'onStateChange' | 'permission' | 'secureContext' | 'visibility'
>;

/** The permission that each tool asks for. */
const PERMISSION_OF: ReadonlyMap<string, PermissionName> = new Map([
  ['geolocation.get', 'geolocation'],
  ['geolocation.watch', 'geolocation'],
  ['camera.photo', 'camera'],
  ['camera.scan', 'camera'],
  ['microphone.record', 'microphone'],
  ['speech.listen', 'microphone'],
  ['clipboard.read', 'clipboard-read'],
  ['clipboard.write', 'clipboard-write'],
  ['notification.show', 'notifications'],
]);

/**
 * Reports how this tab is, now and on each change of visibility, permissions or
 * battery (BT6). Returns the function that ends it.
 */
export function watchClientState({
  env,
  toolNames,
  report,
}: {
  env: Env;
  toolNames: readonly string[];
  report: (state: ClientState) => void;
}): () => void {
  let last = 0;
  let stopped = false;

  async function publish() {
    last += 1;
    const mine = last;
    const state = await readState(env, toolNames);
    // A newer look may already have been reported.
    if (!stopped && mine === last) report(state);
  }

  const stop = env.onStateChange([...new Set(PERMISSION_OF.values())], () => void publish());
  void publish();
  return () => {
    stopped = true;
    stop();
  };
}

async function readState(env: Env, toolNames: readonly string[]): Promise<ClientState> {
  const permissions: NonNullable<ClientState['permissions']> = {};
  for (const tool of toolNames) {
    const name = PERMISSION_OF.get(tool);
    if (name) permissions[tool] = await env.permission(name);
  }
  const battery = await env.battery();
  return {
    visibility: env.visibility(),
    permissions,
    ...(battery && { battery: { level: battery.level, charging: battery.charging } }),
    secure_context: env.secureContext,
  };
}
