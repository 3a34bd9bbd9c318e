import { createECDH, createPrivateKey, sign } from 'node:crypto';
import { join } from 'node:path';
import { keepText } from '../../auth/room.ts';
import { ConfigError } from '../../base/config-error.ts';

/** The key is in this file of the data directory. */
const VAPID_FILE = 'push-key';
/** Push services refuse those of more than a day. */
const TOKEN_LIVES_S = 12 * 3_600;

/** By which push services recognize this server (RFC 8292). */
export interface VapidKeys {
  /** Browsers take it when they subscribe: a P-256 point, uncompressed, base64url. */
  readonly publicKey: string;
  /** The header `Authorization` of a request to the push service at `origin`. */
  authorization(of: { origin: string; subject: string; nowMs: number }): string;
}

/** The key that was made at the first start; a subscription counts for it alone. */
export async function loadVapidKeys(dataDir: string): Promise<VapidKeys> {
  const file = join(dataDir, VAPID_FILE);
  const { text } = await keepText(file, () => newPrivateKey().toString('base64url'));
  const bytes = Buffer.from(text, 'base64url');
  const keys = bytes.length === 32 ? vapidKeysOf(bytes) : undefined;
  if (keys) return keys;
  throw new ConfigError(
    `${file} holds no key of P-256: it must be 32 bytes in base64url; delete it for a new one, and subscribe each browser again`,
  );
}

function newPrivateKey(): Buffer {
  const made = createECDH('prime256v1');
  made.generateKeys();
  const key = made.getPrivateKey();
  // Node leaves out zeros at the front.
  return Buffer.concat([Buffer.alloc(32 - key.length), key]);
}

/** Undefined: the bytes are no private key of the curve. */
function vapidKeysOf(privateKey: Buffer): VapidKeys | undefined {
  const pair = createECDH('prime256v1');
  try {
    pair.setPrivateKey(privateKey);
  } catch {
    return undefined;
  }
  const point = pair.getPublicKey();
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) =>
    part.toString('base64url'),
  );
  const d = privateKey.toString('base64url');
  const key = createPrivateKey({
    key: { kty: 'EC', crv: 'P-256', d, x, y } as JsonWebKey,
    format: 'jwk',
  });
  const publicKey = point.toString('base64url');
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  return {
    publicKey,
    authorization({ origin, subject, nowMs }) {
      const exp = Math.floor(nowMs / 1_000) + TOKEN_LIVES_S;
      const head = encode({ typ: 'JWT', alg: 'ES256' });
      const signed = `${head}.${encode({ aud: origin, exp, sub: subject })}`;
      const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' });
      return `vapid t=${signed}.${signature.toString('base64url')}, k=${publicKey}`;
    },
  };
}
