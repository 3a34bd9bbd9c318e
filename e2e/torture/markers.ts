import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Node, parseSync, visitorKeys } from 'oxc-parser';

const ROOT = resolve(import.meta.dirname, '../..');
const SOURCES = '{lib,server}/**/*.{ts,tsx}';
const isNoSource = (path: string) => /(\.test\.tsx?|\/testing|\/node_modules)$/.test(path);

/** Looks like a marker; what it says is checked. */
const MARKER = /^ ?(guard|fault point)\b *:/;
const NAME = /^ (guard|fault point): ([a-z]+(?:-[a-z]+)*)$/;

/**
 * A place in the sources with a name: a comment of its own line. `// guard: <name>`
 * stands before what keeps a promise, and is named after it; mutants take it out.
 * `// fault point: <name>` is where a scenario interferes. Both stand before a
 * statement: comments inside of one are kept by builds.
 */
export interface Marker {
  readonly kind: 'guard' | 'fault point';
  readonly name: string;
  /** From the project's folder on. */
  readonly file: string;
  readonly source: string;
  /** Offset in `source` of the end of the comment. */
  readonly end: number;
  /** The statement that begins next. */
  readonly node: Node | undefined;
}

let markers: Promise<ReadonlyMap<string, Marker>> | undefined;

/**
 * All places that have a name; read once. Throws when two have the same one, and
 * when a comment would be a marker but for a slip.
 */
export function readMarkers(): Promise<ReadonlyMap<string, Marker>> {
  markers ??= findMarkers();
  return markers;
}

async function findMarkers(): Promise<ReadonlyMap<string, Marker>> {
  const byName = new Map<string, Marker>();
  for await (const path of glob(SOURCES, { cwd: ROOT, exclude: isNoSource })) {
    const file = path.replaceAll('\\', '/');
    for (const marker of markersIn(file, readFileSync(join(ROOT, file), 'utf8'))) {
      const other = byName.get(marker.name);
      if (other) throw new Error(`"${marker.name}" is in ${other.file} and in ${file}`);
      byName.set(marker.name, marker);
    }
  }
  return byName;
}

/** The markers of one file, in their order. */
export function markersIn(file: string, source: string): Marker[] {
  if (!/\/\/ ?(guard|fault point)\b *:/.test(source)) return [];
  const { program, comments } = parseSync(file, source);
  return comments
    .filter(({ type, value }) => type === 'Line' && MARKER.test(value))
    .map(({ value, end }) => {
      const [, kind, name] = NAME.exec(value) ?? [];
      if ((kind !== 'guard' && kind !== 'fault point') || name === undefined) {
        throw new Error(`${file}: "//${value}" is no marker; one is "// guard: a-name"`);
      }
      return { kind, name, file, source, end, node: firstFrom(program, end) };
    });
}

/** It gives the first node that begins at or behind an offset; of several that begin there the largest: the statement. */
function firstFrom(node: Node, offset: number): Node | undefined {
  if (node.start >= offset) return node;
  const ahead = childrenOf(node).filter(({ end }) => end > offset);
  return ahead
    .map((child) => firstFrom(child, offset))
    .filter((found) => found !== undefined)
    .toSorted((a, b) => a.start - b.start || b.end - a.end)[0];
}

/** In the order of the text, mostly. */
export function childrenOf(node: Node): Node[] {
  const fields: readonly [string, unknown][] = Object.entries(node);
  const keys = visitorKeys[node.type] ?? [];
  return fields
    .filter(([key]) => keys.includes(key))
    .flatMap(([, value]) => [value].flat().filter(isNode));
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
