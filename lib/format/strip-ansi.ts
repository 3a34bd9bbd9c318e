const ESC = '\\u001b';
const BEL = '\\u0007';

/** CSI (colour, cursor), OSC (titles, links; ended by BEL or ESC \), and two-character escapes. */
const ANSI = new RegExp(
  `${ESC}\\[[0-?]*[ -/]*[@-~]|${ESC}\\][^${BEL}${ESC}]*(?:${BEL}|${ESC}\\\\)|${ESC}[ -/]*[0-Z\\\\^-~]`,
  'g',
);

/** Takes a terminal's colours and cursor moves out of a text (FM9). */
export const stripAnsi = (text: string): string => text.replace(ANSI, '');
