import { spawn } from 'node:child_process';

/** How the opening of a browser ended; the server goes on in each case. */
export type BrowserOpening = 'opened' | 'not_wanted' | 'failed';

export interface OpenBrowserOptions {
  readonly env: Environment;
  readonly platform: NodeJS.Platform;
  /** Starts a program that outlives us; false when it could not be started. */
  readonly launch?: (command: string, args: readonly string[]) => Promise<boolean>;
}

/** Opens `url` in the desktop's browser, when there is a person to see it. */
export async function openBrowser(
  url: string,
  options: OpenBrowserOptions,
): Promise<BrowserOpening> {
  const { env, platform, launch = launchDetached } = options;
  if (!shouldOpenBrowser(env, platform)) return 'not_wanted';
  const [command, ...args] = openCommand(url, platform);
  return (await launch(command, args)) ? 'opened' : 'failed';
}

/** The desktop's own opener. The URL is an argument, never part of a shell's line. */
function openCommand(url: string, platform: NodeJS.Platform): readonly [string, ...string[]] {
  if (platform === 'darwin') return ['open', url];
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler', url];
  return ['xdg-open', url];
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
 * Whether to open a browser at the start: when the launcher was asked to (`npm start` sets
 * `CALLBOARD_OPEN`), and a person sits before the machine. Over SSH, in CI or without a display a
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
