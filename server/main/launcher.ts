import { spawn } from 'node:child_process';

export interface OpenBrowserOptions {
  readonly env: Environment;
  readonly platform: NodeJS.Platform;
  /** Starts a program that outlives us; false when it could not be started. */
  readonly launch?: (command: string, args: readonly string[]) => Promise<boolean>;
}

/** Opens `url` in the desktop's browser, when there is a person to see it; false: it did not open. */
export async function openBrowser(
  url: string,
  { env, platform, launch = launchDetached }: OpenBrowserOptions,
): Promise<boolean> {
  return shouldOpenBrowser(env, platform) && launch(...openCommand(url, platform));
}

/** The desktop's own opener. The URL is an argument, never part of a shell's line. */
function openCommand(url: string, platform: NodeJS.Platform): [string, readonly string[]] {
  if (platform === 'darwin') return ['open', [url]];
  if (platform === 'win32') return ['rundll32', ['url.dll,FileProtocolHandler', url]];
  return ['xdg-open', [url]];
}

function launchDetached(command: string, args: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { detached: true, stdio: 'ignore' });
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}

/** Environment variables by name. */
type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Opens a browser at the start when the launcher was asked to (`npm start` sets `CALLBOARD_OPEN`),
 * and a person sits before the machine. Over SSH, in CI or without a display a
 * browser would open unseen; `BROWSER=none` means that none is wanted.
 */
export function shouldOpenBrowser(env: Environment, platform: NodeJS.Platform): boolean {
  if (env.CALLBOARD_OPEN !== '1' || env.BROWSER === 'none') return false;
  if (isSet(env.CI) || env.SSH_CONNECTION || env.SSH_CLIENT || env.SSH_TTY) return false;
  if (platform === 'darwin' || platform === 'win32') return true;
  return Boolean(env.DISPLAY || env.WAYLAND_DISPLAY);
}

/** `CI=false` means no to tools that only check whether it is set. */
function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== '0' && value !== 'false';
}

/** The part of a process that is used here; it may have been started with an IPC channel. */
export interface ParentChannel {
  /** True while the channel is open; undefined when there never was one. */
  connected?: boolean | undefined;
  once(event: 'disconnect', listener: () => void): unknown;
  off(event: 'disconnect', listener: () => void): unknown;
  channel?: { unref(): void } | null | undefined;
}

/**
 * Calls `onExit` once when the launcher that started this process has ended; returns a function that unsubscribes.
 *
 * A signal reaches one process, not those that it started: npm ends of a SIGTERM and a launcher of
 * a SIGKILL without a word to the server, which would then keep the port and the data directory.
 * The operating system closes the launcher's end of the IPC channel in any case, so its closing is
 * the word. Started without a channel, by hand or by a service manager, nothing is watched.
 *
 * It may come on top of a signal: what it calls has to bear being asked to stop twice.
 */
export function watchParent(onExit: () => void, channel: ParentChannel = process): () => void {
  if (channel.connected === undefined) return () => {};
  if (!channel.connected) {
    // It ended before this listened; called later, so that the caller has the returned function first.
    const soon = setImmediate(onExit);
    return () => clearImmediate(soon);
  }
  channel.once('disconnect', onExit);
  // Listening keeps the channel open for ever; it must not keep a server alive that has ended.
  channel.channel?.unref();
  return () => channel.off('disconnect', onExit);
}
