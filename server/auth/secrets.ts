import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { tokenProblem } from '#lib/protocol/operator-token';
import { createSecrets } from '#lib/text/secrets';
import { isMissing } from '#lib/util/is-missing';
import { ConfigError } from '../base/config-error.ts';

/** SHA-256, hex. For random secrets only: it is fast, so a password would be guessed from it. */
export const hashSecret = (secret: string): string => hash('sha256', secret, 'hex');

/** 256 random bits, in letters that headers and addresses carry as they are. */
export const newSecret = (): string => randomBytes(32).toString('base64url');

/**
 * The id that these parts always give, also after a restart. `key` is of the data directory, so
 * that no caller can make the id, and take it before the one whom it is for.
 */
export function keyedId(key: string, prefix: string, parts: readonly string[]): string {
  const digest = createHmac('sha256', key).update(JSON.stringify([prefix, ...parts]));
  return `${prefix}_${digest.digest('base64url').slice(0, 32)}`;
}

/** The operator's token and what the configuration says is secret, as the parts use it. */
export function knownSecrets(operatorToken: string, configured: readonly string[]) {
  const named = configured.map((value) => ({ kind: 'configured', value }));
  return {
    ...createSecrets([{ kind: 'operator_token', value: operatorToken }, ...named]),
    /** The key has this one use, so that no hash says anything of the token. */
    key: createHmac('sha256', operatorToken).update('hashes of secrets').digest('hex'),
  };
}

/** A line of text in a file for its owner's eyes alone: the one that is there, else a new one, durably. */
export async function keepText(
  file: string,
  makeText: () => string,
): Promise<{ readonly text: string; readonly source: 'kept' | 'made' }> {
  const kept = await read(file);
  if (kept !== undefined) {
    // A copied or restored directory may have lost the mode.
    await chmod(file, 0o600);
    return { text: kept, source: 'kept' };
  }
  const text = makeText();
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(file, `${text}\n`, { flag: 'wx', mode: 0o600, flush: true });
  return { text, source: 'made' };
}

async function read(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/**
 * Eight hex digits that set this server apart from others of its host: browsers
 * send the cookies of a host to all its ports. Made once, kept in the data
 * directory, no secret. Of whatever the file holds, it is a hash that a cookie's
 * name can have.
 */
export async function loadInstanceId(dataDir: string): Promise<string> {
  return hashSecret(await loadIdentity(dataDir)).slice(0, 8);
}

/** Four numbers from 0 to 255, by which people know this server again. Of the same identity, and no secret either. */
export async function loadFingerprint(dataDir: string): Promise<number[]> {
  const digits = hashSecret(`fingerprint ${await loadIdentity(dataDir)}`);
  return [0, 2, 4, 6].map((at) => Number.parseInt(digits.slice(at, at + 2), 16));
}

const loadIdentity = async (dataDir: string): Promise<string> => {
  const made = () => randomBytes(16).toString('hex');
  return (await keepText(join(dataDir, 'instance'), made)).text;
};

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
