import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { hashSecret } from './hash-secret.ts';
import { keepText } from './keep-text.ts';

/**
 * Eight hex digits that set this server apart from others of its host: browsers
 * send the cookies of a host to all its ports. Made once, kept in the data
 * directory, no secret. Of whatever the file holds, it is a hash that a cookie's
 * name can have.
 */
export async function loadInstanceId(dataDir: string): Promise<string> {
  const { text } = await keepText(join(dataDir, 'instance'), () => randomBytes(16).toString('hex'));
  return hashSecret(text).slice(0, 8);
}
