import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { chmod, mkdir, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A shorter one could be guessed; the token opens everything. */
const MIN_TOKEN_CHARS = 16;
/** What RFC 9110 lets stand in a header and in a subprotocol's name, so that one token fits both. */
const TOKEN_CHARS = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

export type OperatorToken =
  | { readonly ok: true; readonly token: string; readonly source: 'given' | 'kept' | 'made' }
  | { readonly ok: false; readonly message: string };

/**
 * The operator's token: the one that was given, else the one kept in the data
 * directory, else a new one that is kept there for its owner's eyes alone.
 */
export async function loadOperatorToken(options: {
  readonly dataDir: string;
  /** `CALLBOARD_TOKEN`. */
  readonly given: string | undefined;
}): Promise<OperatorToken> {
  if (options.given !== undefined && options.given !== '') {
    const problem = tokenProblem(options.given);
    if (problem) return { ok: false, message: `CALLBOARD_TOKEN ${problem}` };
    return { ok: true, token: options.given, source: 'given' };
  }
  const file = join(options.dataDir, 'token');
  const kept = await readKept(file);
  if (kept === undefined)
    return { ok: true, token: await make(options.dataDir, file), source: 'made' };
  const problem = tokenProblem(kept);
  if (problem)
    return { ok: false, message: `${file} ${problem}; delete it to have a new one made` };
  // A copied or restored directory may have lost the mode.
  await chmod(file, 0o600);
  return { ok: true, token: kept, source: 'kept' };
}

/** Compares without telling by its time how much was right, nor how long the token is. */
export function createTokenCheck(token: string): (candidate: string) => boolean {
  const wanted = digest(token);
  return (candidate) => timingSafeEqual(digest(candidate), wanted);
}

function tokenProblem(token: string): string | undefined {
  if (token.length < MIN_TOKEN_CHARS) {
    return `is ${token.length} characters long; it must have at least ${MIN_TOKEN_CHARS}`;
  }
  if (!TOKEN_CHARS.test(token)) {
    return 'has characters that no header can carry; use letters, digits, "-" and "_"';
  }
  return undefined;
}

async function readKept(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

async function make(dataDir: string, file: string): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(`${token}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  return token;
}

const digest = (text: string): Buffer => hash('sha256', text, 'buffer');
