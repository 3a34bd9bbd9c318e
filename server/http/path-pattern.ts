import { decodePart } from './parse-target.ts';

export type PathParams = Readonly<Record<string, string>>;

/** Names of the parts of a pattern like `/v1/runs/:id`. */
export type ParamsOf<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamsOf<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

/** A function that gives a path's parts, decoded, when the path fits the pattern. */
export function compilePath(pattern: string): (pathname: string) => PathParams | undefined {
  const names: string[] = [];
  const source = pattern
    .split('/')
    .map((part) => {
      if (!part.startsWith(':')) return part.replaceAll('.', '\\.');
      names.push(part.slice(1));
      return '([^/]+)';
    })
    .join('/');
  const expression = new RegExp(`^${source}$`);
  return (pathname) => {
    const found = expression.exec(pathname);
    if (!found) return undefined;
    const values = found.slice(1).map(decodePart);
    const params: Record<string, string> = {};
    for (const [index, name] of names.entries()) params[name] = values[index] ?? '';
    return params;
  };
}
