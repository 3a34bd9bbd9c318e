import { toBase64 } from '../util/base64.ts';

/** A token that this device makes for itself: 256 random bits. */
export function newDeviceToken(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  const secret = toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
  return `cb_device_${secret}`;
}

/** Whether a text that was kept can be one. */
export const isDeviceToken = (text: string): boolean => /^cb_device_[\w-]{43}$/.test(text);
