import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

/** The one list of the server's rooms: their doors in the order in which they may use each other. */
const LIST = 'server/main/rooms.ts';
const DOORS = localImports(LIST);

/** The table says who may import whom, types too; the longest matching prefix rules. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  'lib/util': ['lib/util'],
  'lib/limits': ['lib/limits'],
  'lib/json': ['lib/json', 'lib/text'],
  'lib/text': ['lib/text'],
  'lib/protocol': ['lib/protocol', 'lib/util'],
  'lib/net': ['lib/net', 'lib/protocol', 'lib/util'],
  'lib/approval': ['lib/approval', 'lib/protocol', 'lib/json', 'lib/util'],
  'lib/call': ['lib/call', 'lib/approval', 'lib/protocol', 'lib/json', 'lib/text', 'lib/util'],
  'lib/schema': ['lib/schema', 'lib/protocol', 'lib/json', 'lib/text', 'lib/util'],
  'lib/policy': ['lib/policy', 'lib/schema', 'lib/protocol', 'lib/json', 'lib/text', 'lib/util'],
  lib: ['lib'],
  components: ['components', 'lib'],
  app: ['app', 'components', 'lib'],
  // The ground: it needs nothing else of the server.
  'server/base': ['server/base', 'lib'],
  // The roof: it builds everything, what is inside and then what faces the outside.
  'server/main': ['server/main', 'server/base', 'lib'],
  [LIST]: DOORS,
  // A program of its own, which reaches the server by HTTP as others do, and a store that no server has.
  'server/cli': [
    'server/cli',
    'server/bootstrap/node-version.mjs',
    'server/base/project.ts',
    'server/store/integrity/rebuild-store.ts',
    'server/store/integrity/describe-end.ts',
    'lib',
  ],
  ...Object.fromEntries(
    DOORS.map((door, place) => {
      const room = dirname(door);
      return [room, [room, 'server/base', 'lib', ...DOORS.slice(0, place)]];
    }),
  ),
};

/** The packages that a part may use; a part that is not named is free but for NOT_FOR. */
const MAY_USE: Record<string, readonly string[]> = {
  'lib/util': [],
  'lib/limits': [],
  'lib/json': [],
  'lib/text': [],
  'lib/net': [],
  'lib/protocol': ['zod'],
  'lib/approval': ['zod'],
  'lib/call': ['zod'],
  // The validator and zod are for its tests.
  'lib/schema': ['@cfworker/json-schema', 're2js', 'zod'],
  'lib/policy': ['zod'],
  'lib/stores': ['zustand'],
};

/** Packages that would bind a part to what it must not use. */
const NOT_FOR: Record<string, readonly string[]> = {
  lib: ['react', 'react-dom', 'next', 'ws', 'kysely', 'pino'],
  components: ['ws', 'kysely', 'pino', 'ai'],
  app: ['ws', 'kysely', 'pino', 'ai'],
  server: ['react', 'react-dom', 'zustand'],
};

const MAX_LINES = 400;

/** Tests, the suites that several of them share, and their doubles. */
const IS_FOR_TESTS = /\.(test|contract)\.tsx?$|\/testing\//;

const files = ['app', 'components', 'lib', 'server'].flatMap(sourceFiles);

test('the page on the architecture has each room of lib and server', () => {
  const page = read('docs/architecture.md');
  const rooms = ['lib', 'server', 'server/doors']
    .flatMap(foldersIn)
    .filter((folder) => basename(folder) !== 'testing');
  expect(rooms.length).toBeGreaterThan(20);
  expect(rooms.filter((room) => !page.includes(`\`${room}\``))).toEqual([]);
});

describe('architecture', () => {
  test('each part imports only what it may use', () => {
    const illegal = files.flatMap((file) =>
      localImports(file)
        .filter((target) => !mayImport(file, target))
        .map((target) => `${file} imports ${target}`),
    );
    expect(illegal).toEqual([]);
  });

  test('each folder of the server is a room with a door, or one of the five that are none', () => {
    const none = ['base', 'bootstrap', 'cli', 'main', 'testing'].map((name) => `server/${name}`);
    const folders = ['server', 'server/doors'].flatMap(foldersIn);
    expect(folders.filter((folder) => !none.includes(folder)).sort()).toEqual(
      DOORS.map((door) => dirname(door)).sort(),
    );
    expect(DOORS.filter((door) => basename(door) !== 'room.ts')).toEqual([]);
  });

  test('each part uses only the packages that are for it', () => {
    const illegal = files.flatMap((file) => {
      const may = ruleFor(MAY_USE, file);
      const not = ruleFor(NOT_FOR, file) ?? [];
      return packageImports(file)
        .filter((name) => not.includes(name) || (may && !may.includes(name)))
        .map((name) => `${file} uses ${name}`);
    });
    expect(illegal).toEqual([]);
  });

  test('each local import leads to a file', () => {
    const broken = files.flatMap((file) =>
      localImports(file)
        .filter((target) => !existsSync(join(root, target)))
        .map((target) => `${file} imports ${target}`),
    );
    expect(broken).toEqual([]);
  });

  test('everything outside server/ and the client for Node also runs in a browser', () => {
    const nodeOnly = files
      .filter((file) => !isForNode(file))
      .filter((file) => importsIn(read(file)).some((specifier) => isBuiltin(specifier)));
    expect(nodeOnly).toEqual([]);
  });

  test('nothing that runs in a browser needs what is for Node', () => {
    const needing = files
      .filter((file) => !isForNode(file))
      .filter((file) => localImports(file).some(isForNode));
    expect(needing).toEqual([]);
  });

  test('only the composition root of each program reads the environment', () => {
    const readers = files.filter((file) => /\bprocess\.env\b/.test(codeOf(read(file))));
    const roots = ['server/main/main.ts', 'server/cli/main.ts'];
    expect(readers.filter((file) => !roots.includes(file))).toEqual([]);
  });

  test('no room needs the roof', () => {
    const needing = files
      .filter((file) => !isInside(file, 'server/main'))
      .filter((file) => localImports(file).some((target) => isInside(target, 'server/main')));
    expect(needing).toEqual([]);
    expect(localImports('server/main/create-core.ts')).not.toContain(
      'server/main/create-endpoints.ts',
    );
  });

  test('nothing needs what is there for tests and measurements', () => {
    const needing = files.filter((file) =>
      localImports(file).some((target) => IS_FOR_TESTS.test(target)),
    );
    expect(needing).toEqual([]);
  });

  test('no imports run in a circle', () => {
    expect(findCycle(new Map(files.map((file) => [file, localImports(file)])))).toEqual([]);
  });

  test('no rooms of lib and of the server need each other in a circle', () => {
    const arrows = files
      .filter((file) => isInside(file, 'lib') || isInside(file, 'server'))
      .flatMap((file) =>
        localImports(file).map((target) => [roomOf(file), roomOf(target)] as const),
      )
      .filter(([room, needed]) => room !== needed);
    const needs = Map.groupBy(arrows, ([room]) => room);
    expect(needs.size).toBeGreaterThan(20);
    const rooms = [...needs].map(([room, its]) => [room, its.map(([, needed]) => needed)] as const);
    expect(findCycle(new Map(rooms))).toEqual([]);
  });

  test('no file has outgrown one sitting', () => {
    const long = files.filter((file) => read(file).trimEnd().split('\n').length > MAX_LINES);
    expect(long).toEqual([]);
  });
});

describe('the reading of imports', () => {
  test.each([
    ["import { a } from './a.ts';", './a.ts'],
    ["import type { A } from './a.ts';", './a.ts'],
    ["import {\n  a,\n  b,\n} from './a.ts';", './a.ts'],
    ["import './globals.css';", './globals.css'],
    ["export { a } from './a.ts';", './a.ts'],
    ["export type * from './a.ts';", './a.ts'],
    ["const a = await import('./a.ts');", './a.ts'],
    ["type A = import('./a.ts').A;", './a.ts'],
    ['import a from "a";', 'a'],
  ])('%j imports %s', (code, specifier) => {
    expect(importsIn(code)).toEqual([specifier]);
  });

  test.each(["// from './a.ts'", "/** see import('./a.ts') */", "const text = 'a from b';"])(
    '%j imports nothing',
    (code) => expect(importsIn(code)).toEqual([]),
  );

  test('a circle differs from a fork that meets again', () => {
    const fork = { a: ['b', 'c'], b: ['d'], c: ['d'], d: [] };
    expect(findCycle(new Map(Object.entries(fork)))).toEqual([]);
    const circle = { ...fork, d: ['b'] };
    expect(findCycle(new Map(Object.entries(circle)))).toEqual(['b', 'd', 'b']);
  });
});

function mayImport(file: string, target: string): boolean {
  const prefixes = ruleFor(MAY_IMPORT, file) ?? [];
  // The doors share a room, and each is one of its own inside it.
  const isOfOther = (prefix: string) => prefix === 'server/doors' && roomOf(target) !== prefix;
  return prefixes.some((prefix) => isInside(target, prefix) && !isOfOther(prefix));
}

const foldersIn = (top: string): string[] =>
  readdirSync(join(root, top), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${top}/${name}`);

function ruleFor(rules: Record<string, readonly string[]>, file: string) {
  const owners = Object.keys(rules).filter((prefix) => isInside(file, prefix));
  const [nearest = ''] = owners.sort((a, b) => b.length - a.length);
  return rules[nearest];
}

/** The first folder below the top; a door of the server is a room by itself. */
function roomOf(path: string): string {
  const parts = path.split('/');
  const isDoor = parts[1] === 'doors' && parts[2] !== undefined && !parts[2].includes('.');
  return parts.slice(0, isDoor ? 3 : 2).join('/');
}

function isForNode(file: string): boolean {
  return isInside(file, 'server') || isInside(file, 'lib/client/node');
}

/** Sources, without what is for tests, and without the launcher, which stands alone. */
function sourceFiles(folder: string): string[] {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return path === 'server/bootstrap' ? [] : sourceFiles(path);
    return /\.(tsx?|mjs)$/.test(path) && !IS_FOR_TESTS.test(path) ? [path] : [];
  });
}

function importsIn(source: string): string[] {
  const code = codeOf(source);
  const statements = /^\s*(?:import|export)\b(?:[^'";()]*?\bfrom)?\s*['"]([^'"]+)['"]/gm;
  const calls = /\bimport\(\s*['"]([^'"]+)['"]/g;
  return [statements, calls].flatMap((pattern) =>
    [...code.matchAll(pattern)].map(([, specifier = '']) => specifier),
  );
}

function localImports(file: string): string[] {
  return importsIn(read(file)).flatMap((specifier) => {
    if (specifier.startsWith('.')) return [join(dirname(file), specifier)];
    if (specifier.startsWith('#lib/')) return [`${specifier.slice(1)}.ts`];
    if (specifier.startsWith('#components/')) return [`${specifier.slice(1)}.tsx`];
    return [];
  });
}

function packageImports(file: string): string[] {
  return importsIn(read(file))
    .filter((specifier) => !/^[.#]/.test(specifier) && !isBuiltin(specifier))
    .map((specifier) => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/'));
}

/** The first circle found, as the files in it; the way back ends where it began. */
function findCycle(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): string[] => {
    const start = path.indexOf(file);
    if (start >= 0) return [...path.slice(start), file];
    if (done.has(file)) return [];
    for (const target of imports.get(file) ?? []) {
      const cycle = visit(target, [...path, file]);
      if (cycle.length > 0) return cycle;
    }
    done.add(file);
    return [];
  };
  for (const file of imports.keys()) {
    const cycle = visit(file, []);
    if (cycle.length > 0) return cycle;
  }
  return [];
}

/** Without comments, which may speak of imports. A `//` inside a string starts none. */
function codeOf(source: string): string {
  return source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
}

function isInside(path: string, prefix: string): boolean {
  return path === prefix || path.startsWith(`${prefix}/`);
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}
