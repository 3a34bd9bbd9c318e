import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { keepText } from './keep-text.ts';
import { hashSecret } from './secrets.ts';

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
