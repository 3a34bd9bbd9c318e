import encodeQR from 'qr';
import type { Output } from './output.ts';

/** At a terminal in its black and white, whatever its colours are; else in blocks. */
export function printQr(out: Output, link: string): void {
  out.picture(encodeQR(link, out.isTerminal ? 'term' : 'ascii', { ecc: 'medium' }));
}
