/** Where a request goes, in the one reading that all parts of the server share. */
export interface Target {
  /** As it was sent, percent-encoded: the same text that the page handler gets. */
  readonly pathname: string;
  /** With its `?`, or empty. */
  readonly search: string;
}

/** Encoded or not: what another reader of the path could take for a step elsewhere. */
const AMBIGUOUS = /\/\/|\\|%2f|%5c|%00|(?:\/|%2f)(?:\.|%2e){1,2}(?=\/|$)/i;
/** Visible ASCII: anything else has to come percent-encoded. */
const VISIBLE = /^[!-~]+$/;

/**
 * Reads a request's target; undefined when it makes no sense or could be read
 * in two ways (`//`, `*`, absolute form, `/%E0%A4%A`, `/../`). Never throws,
 * which is why it does not ask `new URL`.
 */
export function parseTarget(url: string | undefined): Target | undefined {
  if (url === undefined || !url.startsWith('/') || !VISIBLE.test(url)) return undefined;
  const [target = ''] = url.split('#', 1);
  const cut = target.indexOf('?');
  const path = cut < 0 ? target : target.slice(0, cut);
  // Programs are configured with either form; pages have theirs.
  const pathname = /^\/(?:mcp|ag-ui|v1\/.+)\/$/.test(path) ? path.slice(0, -1) : path;
  if (AMBIGUOUS.test(path) || decodePart(pathname) === undefined) return undefined;
  return { pathname, search: cut < 0 ? '' : target.slice(cut) };
}

/** Percent-decoded; undefined when the escapes are not UTF-8. */
export function decodePart(part: string): string | undefined {
  if (!part.includes('%')) return part;
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
