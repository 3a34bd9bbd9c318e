/**
 * SHA-256 (FIPS 180-4) of bytes, as hex. `crypto.subtle` is missing where a page is not a secure
 * context, such as a phone that opens `http://192.168.…`.
 */
export function sha256Hex(bytes: Uint8Array): string {
  const hash = [...START];
  const padded = pad(bytes);
  for (let at = 0; at < padded.byteLength; at += BLOCK) addBlock(hash, padded, at);
  return hash.map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}

/** Bytes. */
const BLOCK = 64;

const PRIMES = firstPrimes(64);
/** The first 32 bits of the fractional parts of the square roots of the first eight primes. */
const START = PRIMES.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));
/** And of the cube roots of the first 64. */
const ROUNDS = PRIMES.map((prime) => fraction(Math.cbrt(prime)));

function fraction(root: number): number {
  return ((root - Math.floor(root)) * 2 ** 32) | 0;
}

function firstPrimes(count: number): number[] {
  const primes: number[] = [];
  for (let next = 2; primes.length < count; next += 1) {
    if (primes.every((prime) => next % prime !== 0)) primes.push(next);
  }
  return primes;
}

/** A bit, zeros, and the length in bits, to whole blocks. */
function pad(bytes: Uint8Array): DataView {
  const length = Math.ceil((bytes.length + 9) / BLOCK) * BLOCK;
  const padded = new Uint8Array(length);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(length - 4, (bytes.length * 8) >>> 0);
  return view;
}

const turn = (word: number, by: number): number => (word >>> by) | (word << (32 - by));

function addBlock(hash: number[], view: DataView, from: number): void {
  const words = Array.from({ length: 16 }, (_, at) => view.getInt32(from + at * 4));
  const word = (at: number) => words[at] ?? 0;
  for (let at = 16; at < 64; at += 1) {
    const [early, late] = [word(at - 15), word(at - 2)];
    const small = turn(early, 7) ^ turn(early, 18) ^ (early >>> 3);
    const large = turn(late, 17) ^ turn(late, 19) ^ (late >>> 10);
    words.push((word(at - 16) + small + word(at - 7) + large) | 0);
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = hash;
  for (let at = 0; at < 64; at += 1) {
    const choice = (e & f) ^ (~e & g);
    const first =
      (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + choice + (ROUNDS[at] ?? 0) + word(at)) | 0;
    const most = (a & b) ^ (a & c) ^ (b & c);
    const second = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + most) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
  }
  for (const [at, value] of [a, b, c, d, e, f, g, h].entries()) {
    hash[at] = ((hash[at] ?? 0) + value) | 0;
  }
}
