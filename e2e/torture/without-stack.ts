/**
 * Where in the code something went wrong says nothing elsewhere, and names this
 * machine's folders; as lines, or within a line of JSON.
 */
export const withoutStack = (text: string): string =>
  text.replaceAll(/(\n|\\n)\s+at [^\\\n]*/g, '').replaceAll(/\S*\/\S*:\d+:\d+\)?/g, '…');
