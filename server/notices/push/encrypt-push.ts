import { createCipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto';

/** A browser has a public key and a secret, here as bytes. */
export interface ReceiverKeys {
  /** A P-256 point, uncompressed: 65 bytes. */
  readonly p256dh: Uint8Array;
  /** 16 bytes. */
  readonly auth: Uint8Array;
}

/** These make one message unlike any other: fresh for each; a test gives those of the RFC. */
export interface MessageSecrets {
  /** 16 bytes. */
  readonly salt: Uint8Array;
  /** A private key of P-256. */
  readonly privateKey: Uint8Array;
}

/** Push services take 4,096 bytes of body. */
const RECORD_BYTES = 4_096;
const TAG_BYTES = 16;
const HEADER_BYTES = 16 + 4 + 1 + 65;
/** The delimiter takes one byte. */
const MOST_TEXT_BYTES = RECORD_BYTES - HEADER_BYTES - TAG_BYTES - 1;
/** Bodies have a multiple of this, so that their length does not show which note it is. */
const PADDED_BYTES = 1_024;

/** Says whether a browser can have these keys. */
export function areReceiverKeys({ p256dh, auth }: ReceiverKeys): boolean {
  if (auth.length !== 16 || p256dh.length !== 65 || p256dh[0] !== 4) return false;
  const own = createECDH('prime256v1');
  own.generateKeys();
  try {
    return own.computeSecret(p256dh).length === 32;
  } catch {
    return false; // Not on the curve.
  }
}

/**
 * The body of a push message: RFC 8291 on RFC 8188, `aes128gcm`, one record. `isPadded`: zeros fill
 * it to a length that many messages have.
 */
export function encryptPush(
  text: Uint8Array,
  receiver: ReceiverKeys,
  { isPadded = true, secrets }: { isPadded?: boolean; secrets?: MessageSecrets } = {},
): Buffer<ArrayBuffer> {
  if (text.length > MOST_TEXT_BYTES) {
    throw new RangeError(`a push message has ${MOST_TEXT_BYTES} bytes at most, not ${text.length}`);
  }
  const sender = createECDH('prime256v1');
  if (secrets) sender.setPrivateKey(secrets.privateKey);
  else sender.generateKeys();
  const senderKey = sender.getPublicKey();
  const salt = secrets?.salt ?? randomBytes(16);
  const shared = sender.computeSecret(receiver.p256dh);
  const keyInfo = Buffer.concat([Buffer.from('WebPush: info\0'), receiver.p256dh, senderKey]);
  const secret = Buffer.from(hkdfSync('sha256', shared, receiver.auth, keyInfo, 32));
  const derive = (name: string, bytes: number) =>
    Buffer.from(hkdfSync('sha256', secret, salt, `Content-Encoding: ${name}\0`, bytes));
  const cipher = createCipheriv('aes-128-gcm', derive('aes128gcm', 16), derive('nonce', 12));
  // The delimiter of the last record, then zeros.
  const padding = Buffer.alloc(isPadded ? paddingOf(text.length + 1) : 0);
  const plain = Buffer.concat([text, Buffer.from([2]), padding]);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(RECORD_BYTES);
  head.writeUInt8(senderKey.length, 4);
  const encrypted = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  return Buffer.concat([salt, head, senderKey, encrypted]);
}

const paddingOf = (bytes: number): number =>
  Math.min(Math.ceil(bytes / PADDED_BYTES) * PADDED_BYTES, MOST_TEXT_BYTES + 1) - bytes;
