import { type ClientToolContext, ToolFailure } from '../client/client-tool.ts';
import { abortable } from '../util/abortable.ts';
import type { PermissionName } from './browser-env.ts';
import type { BrowserEnv } from './create-browser-env.ts';

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

/** The person, or the browser for them, refused; with the way to allow it (BT4). */
export const permissionDenied = (what: string): ToolFailure =>
  new ToolFailure(
    'permission_denied',
    `${what} is not allowed at this device. The person can allow it in the browser's site settings (the icon left of the address), and then the call can be repeated.`,
  );

/** True where a browser API threw because it was not allowed to. */
export const isNotAllowed = (error: unknown): boolean =>
  error instanceof DOMException &&
  (error.name === 'NotAllowedError' || error.name === 'SecurityError');
