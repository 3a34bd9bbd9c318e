/** Characters that `String.fromCharCode` takes at once without running out of stack. */
const CHUNK = 0x8000;

/** Bytes to base64 (RFC 4648, padded), in browsers and Node alike. */
export function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (let at = 0; at < bytes.length; at += CHUNK) {
    binary += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  }
  return btoa(binary);
}
