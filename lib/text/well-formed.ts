const NUL = /\0/g;

/**
 * The text without what no strict reader of JSON or UTF-8 takes: halves of a character, and NUL. Each
 * becomes U+FFFD, so that people and models see that something stood there; no place in it moves.
 */
export function wellFormed(text: string): string {
  const whole = text.toWellFormed();
  return whole.includes('\0') ? whole.replace(NUL, '\ufffd') : whole;
}
