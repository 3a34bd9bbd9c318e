import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { ROOT, requirePackage } from './project.mjs';

const DEVICE_DIR = join(ROOT, 'dist', 'device');

/** Written last: what the server reads first of the device page. */
export const DEVICE_INDEX = join(DEVICE_DIR, 'index.json');

/** Where the server serves the files with a hash in their name. */
const ASSETS = '/device/assets/';

const COMMON = /** @type {const} */ ({
  bundle: true,
  minify: true,
  target: 'es2022',
  format: 'esm',
  legalComments: 'none',
  absWorkingDir: ROOT,
  logLevel: 'warning',
  metafile: true,
  define: { 'process.env.NODE_ENV': '"production"' },
});

/** React's runtime alone is 69 kB gzipped, more than all else of the page; Preact's answers to the same names. */
const REACT_BY_PREACT = {
  react: 'preact/compat',
  'react/jsx-runtime': 'preact/jsx-runtime',
  'react-dom': 'preact/compat',
  'react-dom/client': 'preact/compat/client',
};

/** The page loads them by itself once it is drawn, and offers its tools then. */
const AFTER_DRAWING = ['components/device/device-runtime.ts', 'lib/i18n/messages/device/zh.json'];

/**
 * Builds the device page into a folder: scripts, style, icons, the service worker, and `index.json`,
 * which names them.
 *
 * @param {string} [outdir]
 * @returns {Promise<{ initial: string[], connected: string[], inputs: Map<string, string[]> }>} the
 *   scripts that the page loads before its first picture, those until it is connected and offers its
 *   tools (with the longer of the languages), and by script what it is made of
 */
export async function bundleDevice(outdir = DEVICE_DIR) {
  rmSync(outdir, { recursive: true, force: true });
  mkdirSync(outdir, { recursive: true });
  const scripts = await bundleScripts(outdir);
  const style = await bundleStyle(outdir);
  await drawIcons(outdir);
  const shell = [...scripts.initial, style].map((name) => ASSETS + name);
  await bundleWorker(outdir, shell);
  const index = {
    entry: scripts.entry,
    preload: scripts.initial.filter((name) => name !== scripts.entry),
    style,
    assets: [...scripts.inputs.keys(), style],
  };
  writeFileSync(join(outdir, 'index.json'), JSON.stringify(index));
  return scripts;
}

/** @param {string} outdir */
async function bundleScripts(outdir) {
  const esbuild = /** @type {typeof import('esbuild')} */ (requirePackage('esbuild'));
  const { metafile } = await esbuild.build({
    ...COMMON,
    entryPoints: { device: 'components/device/entry.tsx' },
    outdir,
    splitting: true,
    jsx: 'automatic',
    alias: REACT_BY_PREACT,
    entryNames: '[name]-[hash]',
    chunkNames: 'part-[hash]',
  });
  const outputs = new Map(
    Object.entries(metafile.outputs).map(([file, output]) => [basename(file), output]),
  );
  const entry = [...outputs].find(([, { entryPoint }]) => entryPoint?.endsWith('entry.tsx'))?.[0];
  if (entry === undefined) throw new Error('the device page has no entry');
  const later = AFTER_DRAWING.map((file) => {
    const name = [...outputs].find(([, { entryPoint }]) => entryPoint === file)?.[0];
    if (name === undefined) throw new Error(`the device page has no part for ${file}`);
    return name;
  });
  const initial = withImports([entry], outputs);
  const connected = withImports([entry, ...later], outputs);
  const inputs = new Map([...outputs].map(([name, output]) => [name, Object.keys(output.inputs)]));
  return { entry, initial, connected, inputs };
}

/** These scripts and what they load at once. @param {string[]} names @param {Map<string, import('esbuild').Metafile['outputs'][string]>} outputs */
function withImports(names, outputs) {
  const found = new Set(names);
  for (const name of found) {
    for (const { path, kind } of outputs.get(name)?.imports ?? []) {
      if (kind === 'import-statement') found.add(basename(path));
    }
  }
  return [...found];
}

/** Tailwind makes it, with the tokens of the workbench. @param {string} outdir @returns {Promise<string>} its name */
async function bundleStyle(outdir) {
  const esbuild = /** @type {typeof import('esbuild')} */ (requirePackage('esbuild'));
  const tailwindcss = requirePackage('@tailwindcss/postcss');
  // The very one that Tailwind has.
  const postcss = createRequire(requirePackage.resolve('@tailwindcss/postcss'))('postcss');
  const from = join(ROOT, 'components', 'device', 'device.css');
  const made = await postcss([tailwindcss()]).process(readFileSync(from, 'utf8'), { from });
  const { code } = await esbuild.transform(made.css, { loader: 'css', minify: true });
  const hash = createHash('sha256').update(code).digest('hex').slice(0, 8).toUpperCase();
  const name = `device-${hash}.css`;
  writeFileSync(join(outdir, name), code);
  return name;
}

/** Its cache has the name of this build; beside it that of the workbench, which shows push notes alone. @param {string} outdir @param {string[]} shell */
async function bundleWorker(outdir, shell) {
  const esbuild = /** @type {typeof import('esbuild')} */ (requirePackage('esbuild'));
  await esbuild.build({
    ...COMMON,
    format: 'iife',
    entryPoints: ['components/device/service-worker.ts'],
    outfile: join(outdir, 'sw.js'),
    define: { SHELL_FILES: JSON.stringify(shell) },
  });
  await esbuild.build({
    ...COMMON,
    format: 'iife',
    entryPoints: ['components/push/service-worker.ts'],
    outfile: join(outdir, 'push-sw.js'),
  });
}

/** Draws the app's icon. Systems cut a maskable one to a shape of their own, so it fills its square. @param {string} outdir */
async function drawIcons(outdir) {
  const sharp = /** @type {typeof import('sharp').default} */ (requirePackage('sharp'));
  const svg = join(ROOT, 'app', 'icon.svg');
  const background = '#0d1014';
  /** @param {number} size */
  const draw = (size) => sharp(svg, { density: 1200 }).resize(size, size).png();
  for (const size of [192, 512]) await draw(size).toFile(join(outdir, `icon-${size}.png`));
  for (const [name, size, inner] of /** @type {const} */ ([
    ['icon-maskable-512.png', 512, 336],
    ['apple-touch-icon.png', 180, 132],
  ])) {
    const [around, rest] = [Math.floor((size - inner) / 2), Math.ceil((size - inner) / 2)];
    const picture = await draw(inner).toBuffer();
    await sharp(picture)
      .extend({ top: around, bottom: rest, left: around, right: rest, background })
      .flatten({ background })
      .png()
      .toFile(join(outdir, name));
  }
}
