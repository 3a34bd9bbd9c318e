export type PathParams = Readonly<Record<string, string>>;

/** Names of the parts of a pattern like `/v1/runs/:id`. */
export type ParamsOf<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamsOf<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

/** Names of the varying parts of a pattern, in order. */
export const paramNames = (pattern: string): string[] =>
  [...pattern.matchAll(/:(\w+)/g)].map(([, name = '']) => name);

export type RouteMatch<R> =
  | { readonly route: R; readonly params: PathParams }
  /** `methods` that the path takes; none when there is no such path. */
  | { readonly route: undefined; readonly methods: readonly string[] };

/**
 * Finds the route of a request: the first one whose pattern fits the whole path, letter for letter;
 * only its varying parts are percent-decoded. `HEAD` is answered as `GET` is.
 */
export function createRouteTable<R extends { readonly method: string; readonly path: string }>(
  routes: readonly R[],
): (method: string, pathname: string) => RouteMatch<R> {
  const table = routes.map((route) => ({
    route,
    names: paramNames(route.path),
    expression: new RegExp(`^${route.path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '([^/]+)')}$`),
  }));
  // For a path without varying parts it is known which patterns fit it: the others are not tried.
  const whole = new Map(
    routes
      .filter(({ path }) => !path.includes(':'))
      .map(({ path }) => [path, table.filter(({ expression }) => expression.test(path))]),
  );
  return (method, pathname) => {
    const wanted = method === 'HEAD' ? 'GET' : method;
    const methods: string[] = [];
    for (const { route, names, expression } of whole.get(pathname) ?? table) {
      const found = expression.exec(pathname);
      if (!found) continue;
      if (route.method === wanted) return { route, params: readParams(names, found.slice(1)) };
      methods.push(route.method);
    }
    return { route: undefined, methods };
  };
}

const readParams = (names: readonly string[], parts: readonly string[]): PathParams =>
  Object.fromEntries(names.map((name, index) => [name, decodePart(parts[index] ?? '') ?? '']));

/** Where a request goes, in the one reading that all parts of the server share. */
export interface Target {
  /** Percent-encoded as it was sent: the page handler gets the same text. */
  readonly pathname: string;
  /** It has its `?`, or is empty. */
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
function decodePart(part: string): string | undefined {
  if (!part.includes('%')) return part;
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
