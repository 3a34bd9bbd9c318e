/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

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
