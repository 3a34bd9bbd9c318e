/** Without signs that look alike; people read it aloud and type it. */
export const PAIRING_ALPHABET = '23456789ABCDEFGHJKMNPQRSTUVWXYZ';
export const PAIRING_CODE_CHARS = 8;

/** A code as people type it: any case, with spaces or `-` between. Null where it cannot be one. */
export function readPairingCode(typed: string): string | null {
  const code = typed.replace(/[\s-]/g, '').toUpperCase();
  const isCode =
    code.length === PAIRING_CODE_CHARS &&
    [...code].every((sign) => PAIRING_ALPHABET.includes(sign));
  return isCode ? code : null;
}

/** People see it so. */
export const DEVICE_NAME_CHARS = 64;
