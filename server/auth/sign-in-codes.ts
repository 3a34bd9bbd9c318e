import type { Clock } from '../base/clock.ts';
import { hashSecret } from './hash-secret.ts';

export const SIGN_IN_CODE_MS = 10 * 60_000;

/**
 * One-time links for signing in. A code dies on its first use or after ten
 * minutes; several may live at once. Kept in memory: a restart ends them all.
 */
export interface SignInCodes {
  /** The path to open, e.g. `/sign-in/…`. The only secret that is ever in a URL. */
  make(): string;
  /** True once per code. */
  consume(code: string): boolean;
}

export function createSignInCodes(deps: {
  readonly clock: Clock;
  /** 256 random bits as text that a path can carry. */
  readonly newSecret: () => string;
}): SignInCodes {
  const expiries = new Map<string, number>();

  const sweep = () => {
    const now = deps.clock.now();
    for (const [hash, expiresAt] of expiries) if (expiresAt <= now) expiries.delete(hash);
  };

  return {
    make() {
      sweep();
      const code = deps.newSecret();
      expiries.set(hashSecret(code), deps.clock.now() + SIGN_IN_CODE_MS);
      return `/sign-in/${code}`;
    },
    consume(code) {
      sweep();
      // By hash: how long a look-up takes then reveals nothing about the code.
      return expiries.delete(hashSecret(code));
    },
  };
}
