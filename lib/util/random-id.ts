/**
 * A random id of 128 bits in hex. `crypto.randomUUID` is missing where the
 * page is not a secure context; `getRandomValues` is there everywhere.
 */
export const randomId = (): string => toHex(crypto.getRandomValues(new Uint8Array(16)));

export const toHex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
