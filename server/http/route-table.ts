import { decodePart } from './parse-target.ts';

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
  // Of a path without varying parts it is known which patterns fit it: all others need not be tried.
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
