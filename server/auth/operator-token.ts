import { hash, timingSafeEqual } from 'node:crypto';
import { join } from 'node:path';
import { tokenProblem } from '#lib/protocol/operator-token';
import { ConfigError } from '../base/config-error.ts';
import { keepText } from './keep-text.ts';
import { newSecret } from './secrets.ts';

export interface OperatorToken {
  readonly token: string;
  readonly source: 'given' | 'kept' | 'made';
}

/**
 * The operator's token: the one that was given, else the one kept in the data
 * directory, else a new one that is kept there for its owner's eyes alone. Throws `ConfigError`.
 */
export async function loadOperatorToken(options: {
  readonly dataDir: string;
  /** `CALLBOARD_TOKEN`, as the configuration has let it through. */
  readonly given: string | undefined;
}): Promise<OperatorToken> {
  if (options.given !== undefined && options.given !== '') {
    return { token: options.given, source: 'given' };
  }
  const file = join(options.dataDir, 'token');
  const { text: token, source } = await keepText(file, newSecret);
  const problem = tokenProblem(token);
  if (problem) throw new ConfigError(`${file} holds no token: ${problem}; delete it for a new one`);
  return { token, source };
}

/** Compares without revealing by its time how much was right, nor how long the token is. */
export function createTokenCheck(token: string): (candidate: string) => boolean {
  const wanted = digest(token);
  return (candidate) => timingSafeEqual(digest(candidate), wanted);
}

const digest = (text: string): Buffer => hash('sha256', text, 'buffer');
