import { createHmac, hash, randomBytes } from 'node:crypto';
import { createSecrets } from '#lib/text/secrets';

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
    /** Of its own use, so that no hash says anything of the token. */
    key: createHmac('sha256', operatorToken).update('hashes of secrets').digest('hex'),
  };
}
