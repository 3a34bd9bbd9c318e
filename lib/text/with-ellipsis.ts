/** Keeps `most` UTF-16 units of a text, and an ellipsis in place of the rest. It cuts no pair in two. */
export const withEllipsis = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '')}…` : text;
