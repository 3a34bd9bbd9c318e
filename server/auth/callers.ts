import { type Caller, FIRST_OPERATOR, type Operator } from './principal.ts';
import type { Tokens } from './tokens.ts';

/** All who may ask: the operator of the first run, and those who have a token that was made here. */
export interface Callers {
  /** By the secret. */
  find(token: string): Caller | undefined;
  /** By the token's id, null for that of the first run; undefined once it is revoked. */
  of(tokenId: string | null): Caller | undefined;
}

export const createCallers = (
  isFirstToken: (token: string) => boolean,
  tokens: Pick<Tokens, 'find' | 'callerOf'>,
): Callers => ({
  find: (token) => tokens.find(token) ?? (isFirstToken(token) ? FIRST_OPERATOR : undefined),
  of: (tokenId) => tokens.callerOf(tokenId),
});

/** People alone sign in, programs do not. */
export const asPerson = (caller: Caller | undefined): Operator | undefined =>
  caller?.kind === 'operator' ? caller : undefined;
