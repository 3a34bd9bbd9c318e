import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { packageProgram, ROOT, requirePackage } from './project.mjs';
import { runChild } from './run-child.mjs';

/** A page's script tag loads it as `/client.js` of the server. */
export const CLIENT_SCRIPT = join(ROOT, 'dist', 'client', 'client.js');

const COMMON = /** @type {const} */ ({
  bundle: true,
  minify: true,
  target: 'es2022',
  legalComments: 'none',
  absWorkingDir: ROOT,
  logLevel: 'warning',
});

/**
 * The hook uses the client of the page, which is a file of its own: with a copy in each, a page
 * would load the library twice.
 *
 * @type {import('esbuild').Plugin}
 */
const clientApart = {
  name: 'client-apart',
  setup(build) {
    build.onResolve({ filter: /\/lib\/client\/page\/module\.ts$/ }, ({ importer }) =>
      importer === '' ? undefined : { path: './client.mjs', external: true },
    );
  },
};

/**
 * The style of the badge is text to the bundler, which would keep its spaces.
 *
 * @type {import('esbuild').Plugin}
 */
const smallStyle = {
  name: 'small-style',
  setup(build) {
    build.onLoad({ filter: /badge-style\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const [, css = ''] = /BADGE_STYLE = `([^`]*)`/.exec(source) ?? [];
      const { code } = await build.esbuild.transform(css, { loader: 'css', minify: true });
      return {
        contents: `export const BADGE_STYLE = ${JSON.stringify(code.trim())};`,
        loader: 'ts',
      };
    });
  },
};

/** The client library as others load it, by the file that is made. @satisfies {Record<string, import('esbuild').BuildOptions>} */
const CLIENT_FILES = {
  'client.js': {
    entryPoints: ['lib/client/page/script.ts'],
    format: 'iife',
    plugins: [smallStyle],
  },
  'client.mjs': {
    entryPoints: ['lib/client/page/module.ts'],
    format: 'esm',
    plugins: [smallStyle],
  },
  'react.mjs': {
    entryPoints: ['components/client/use-tool.ts'],
    format: 'esm',
    external: ['react'],
    banner: { js: '"use client";' },
    plugins: [clientApart],
  },
  'node.mjs': {
    entryPoints: ['lib/client/node/node-client.ts'],
    format: 'esm',
    platform: 'node',
    minify: false,
  },
};

/**
 * Builds them into a folder; what each is made of is returned by its name.
 *
 * @param {string} [outdir]
 * @returns {Promise<Map<string, string[]>>}
 */
export async function bundleClient(outdir = join(ROOT, 'dist', 'client')) {
  const esbuild = /** @type {typeof import('esbuild')} */ (requirePackage('esbuild'));
  const inputs = new Map();
  for (const [name, options] of Object.entries(CLIENT_FILES)) {
    const outfile = join(outdir, name);
    const result = await esbuild.build({ ...COMMON, ...options, outfile, metafile: true });
    inputs.set(name, Object.keys(result.metafile.inputs));
  }
  return inputs;
}

/**
 * Their types, as the compiler sees them in the sources; `exports` of the package names the files.
 *
 * @param {Pick<import('./project.mjs').Setup, 'node' | 'env'>} setup
 * @param {string} [outdir]
 * @returns {Promise<import('./project.mjs').Problem>}
 */
export async function emitClientTypes({ node, env }, outdir = join(ROOT, 'dist', 'client')) {
  const compiler = packageProgram('typescript/bin/tsc');
  const { code, output } = await runChild({
    command: node,
    args: [
      compiler,
      '-p',
      'server/bootstrap/tsconfig.client.json',
      '--outDir',
      join(outdir, 'types'),
    ],
    env,
    cwd: ROOT,
    output: 'keep',
  });
  if (code === 0) return undefined;
  process.stderr.write(output);
  return 'the types of the client library could not be made (the reason is above).';
}
