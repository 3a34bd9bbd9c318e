/** Shared by all copies of the library in a page. */
const KEY = Symbol.for('callboard.web-mcp.published');

/** Names that this page has registered with its browser for the server: they came from there. */
function published(): Set<string> {
  const known: Set<string> | undefined = Reflect.get(globalThis, KEY);
  if (known) return known;
  const names = new Set<string>();
  Reflect.set(globalThis, KEY, names);
  return names;
}

/** A name is a tool's identity here: a browser takes each once in a document. */
export const isPublished = (name: string): boolean => published().has(name);

/** Keeps the name until the returned function is called. */
export function markPublished(name: string): () => void {
  published().add(name);
  return () => void published().delete(name);
}
