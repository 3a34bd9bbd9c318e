import { toBase64 } from '#lib/util/base64';
import { sha256Hex } from '#lib/util/sha256';

/** A token that this device makes for itself: 256 random bits. */
export function newDeviceToken(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  const secret = toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
  return `cb_device_${secret}`;
}

/** What the server stores of it. */
export const hashOfToken = (token: string): string => sha256Hex(new TextEncoder().encode(token));
