import { existsSync } from 'node:fs';
import { mkdir, rm, symlink } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import { BUNDLE, NODE_BUNDLE } from '../../server/bootstrap/build.mjs';
import { type Marker, readMarkers } from './markers.ts';
import type { Edit, Patch } from './patch.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** The server needs these beside its bundle. */
const BESIDE = ['.next', 'next.config.mjs', 'package.json', 'app', 'public'];

const CLIENT_ENTRIES = {
  client: 'e2e/torture/client-program.ts',
  library: 'e2e/torture/net/client-library.ts',
};
const NODE_BUILD: BuildOptions = {
  ...NODE_BUNDLE,
  external: [...NODE_BUNDLE.external],
  entryPoints: { ...BUNDLE.entryPoints, ...CLIENT_ENTRIES },
  absWorkingDir: ROOT,
};
const PAGE_BUILD: BuildOptions = {
  bundle: true,
  platform: 'browser',
  format: 'esm',
  outExtension: { '.js': '.mjs' },
  logLevel: 'warning',
  entryPoints: { page: 'e2e/support/tool-page.ts' },
  absWorkingDir: ROOT,
};

/** The server, the client program and the page with tools, built from the sources with some places changed. */
export interface Build {
  readonly name: string;
  /** The patches of it, for a build that changes more. */
  readonly patches: readonly Patch[];
  /** To be started with Node; its workers lie beside it. */
  readonly serverFile: string;
  /** `client-program.ts` as one file. */
  readonly clientFile: string;
  /** The client library, to be imported. */
  readonly libraryFile: string;
  /** `tool-page.ts` as one file, for a browser. */
  readonly pageFile: string;
  remove(): Promise<void>;
}

/** Several are built at a time. */
let builds = 0;

/**
 * Builds into a folder of its own under `dist/torture/`. The product has no
 * switches for its tests: what is broken on purpose, or ends itself at a named
 * point, is another build. A patch whose place is gone fails here, so that a
 * mutant cannot turn into the original unnoticed.
 */
export async function buildVariant(name: string, patches: readonly Patch[] = []): Promise<Build> {
  builds += 1;
  const folder = join(ROOT, 'dist', 'torture', `${name}-${process.pid}-${builds}`);
  await rm(folder, { recursive: true, force: true });
  await mkdir(join(folder, 'dist'), { recursive: true });
  for (const entry of BESIDE) {
    const target = join(ROOT, entry);
    if (existsSync(target)) await symlink(target, join(folder, entry));
  }
  const sources = await patchedSources(patches);
  const used = new Set<string>();
  const here: BuildOptions = { outdir: join(folder, 'dist'), plugins: [replacing(sources, used)] };
  for (const options of [NODE_BUILD, PAGE_BUILD]) await build({ ...options, ...here });
  const unused = [...sources.keys()].filter((file) => !used.has(file));
  if (unused.length > 0) throw new Error(`${name}: not part of the build: ${unused.join(', ')}`);
  return {
    name,
    patches,
    serverFile: join(folder, 'dist', 'server.mjs'),
    clientFile: join(folder, 'dist', 'client.mjs'),
    libraryFile: join(folder, 'dist', 'library.mjs'),
    pageFile: join(folder, 'dist', 'page.mjs'),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

const replacing = (sources: ReadonlyMap<string, string>, used: Set<string>): Plugin => ({
  name: 'replacing',
  setup(builder) {
    builder.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const file = relative(ROOT, path);
      const contents = sources.get(file);
      if (contents === undefined) return undefined;
      used.add(file);
      return { contents, loader: 'ts' };
    });
  },
});

/** By file, its text with all of its patches. Throws when a place is not there, or two of them change the same. */
export async function patchedSources(patches: readonly Patch[]): Promise<Map<string, string>> {
  const sources = new Map<string, string>();
  if (patches.length === 0) return sources;
  const markers = await readMarkers();
  const edits = patches.map(({ at, change }) => {
    const place = markers.get(at);
    if (!place) throw new Error(`no place in the sources is named "${at}"`);
    return { place, edit: change(place) };
  });
  for (const [file, ofFile] of Map.groupBy(edits, ({ place }) => place.file)) {
    sources.set(file, applied(ofFile));
  }
  return sources;
}

/** Our files that a build is made of, as only in them a patch changes anything; and all of their text. */
export async function sourcesOfBuild(): Promise<{ files: ReadonlySet<string>; text: string }> {
  const files = new Set<string>();
  const texts: string[] = [];
  for (const { external: _, ...options } of [NODE_BUILD, PAGE_BUILD]) {
    const kept = { outdir: '.', write: false, metafile: true, packages: 'external' } as const;
    const { metafile, outputFiles } = await build({ ...options, ...kept });
    for (const file of Object.keys(metafile.inputs)) files.add(file);
    texts.push(...outputFiles.map(({ text }) => text));
  }
  return { files, text: texts.join('\n') };
}

/** All of one file, from its end on: so the offsets of the others stay. */
function applied(edits: readonly { place: Marker; edit: Edit }[]): string {
  const ordered = edits.toSorted((a, b) => b.edit.start - a.edit.start || b.edit.end - a.edit.end);
  let source = ordered[0]?.place.source ?? '';
  let begin = source.length;
  for (const { place, edit } of ordered) {
    if (edit.end > begin) throw new Error(`${place.name}: another patch changes the same text`);
    source = source.slice(0, edit.start) + edit.text + source.slice(edit.end);
    begin = edit.start;
  }
  return source;
}
