import { createHmac } from 'node:crypto';
import { createSecrets } from '#lib/text/secrets';

/** The operator's token and what the configuration says is secret, as the parts use it. */
export function knownSecrets(operatorToken: string, configured: readonly string[]) {
  const named = configured.map((value) => ({ kind: 'configured', value }));
  return {
    ...createSecrets([{ kind: 'operator_token', value: operatorToken }, ...named]),
    /** Of its own use, so that no hash says anything of the token. */
    key: createHmac('sha256', operatorToken).update('hashes of secrets').digest('hex'),
  };
}
