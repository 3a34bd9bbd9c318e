import type { Clock } from '../base/clock.ts';
import { hashSecret } from './secrets.ts';

export const SIGN_IN_CODE_MS = 10 * 60_000;

export type SignInCodes = ReturnType<typeof createSignInCodes>;

/**
 * One-time links for signing in. A code dies on its first use or after ten
 * minutes; several may live at once. Kept in memory: a restart ends them all.
 */
export function createSignInCodes(deps: {
  readonly clock: Clock;
  /** 256 random bits as text that a path can carry. */
  readonly newSecret: () => string;
}) {
  const expiries = new Map<string, number>();

  const sweep = () => {
    const now = deps.clock.now();
    for (const [hash, expiresAt] of expiries) if (expiresAt <= now) expiries.delete(hash);
  };

  return {
    /** The path to open, e.g. `/sign-in/…`. The only secret that is ever in a URL. */
    make(): string {
      sweep();
      const code = deps.newSecret();
      expiries.set(hashSecret(code), deps.clock.now() + SIGN_IN_CODE_MS);
      return `/sign-in/${code}`;
    },
    /** True once per code. */
    consume(code: string): boolean {
      sweep();
      // By hash: how long a look-up takes then reveals nothing about the code.
      return expiries.delete(hashSecret(code));
    },
  };
}
