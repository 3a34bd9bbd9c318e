import { randomInt } from 'node:crypto';
import { PAIRING_ALPHABET, PAIRING_CODE_CHARS } from '#lib/protocol/device';

/** 39 random bits, each sign by itself, none more likely than another. */
export const newPairingCode = (): string =>
  Array.from(
    { length: PAIRING_CODE_CHARS },
    () => PAIRING_ALPHABET[randomInt(PAIRING_ALPHABET.length)],
  ).join('');
