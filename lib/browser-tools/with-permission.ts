import type { ClientToolContext } from '../client/client-tool.ts';
import { abortable } from '../util/abortable.ts';
import type { BrowserEnv, PermissionName } from './browser-env.ts';

/**
 * Uses what the browser may first ask the person for. While it asks, the call
 * reports it and its clock is paused (BT3); when it has nothing to ask, not.
 */
export async function withPermission<T>(
  env: Pick<BrowserEnv, 'permission'>,
  name: PermissionName,
  context: ClientToolContext,
  use: () => Promise<T>,
): Promise<T> {
  const state = await env.permission(name);
  context.signal.throwIfAborted();
  return state === 'prompt' ? context.askDevice(use) : abortable(context.signal, use());
}
