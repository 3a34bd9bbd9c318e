import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { bundleClient, CLIENT_SCRIPT, emitClientTypes } from './build-client.mjs';
import { bundleDevice, DEVICE_INDEX } from './build-device.mjs';
import { createStamp, hashContents } from './content-stamp.mjs';
import { packageProgram, ROOT, requirePackage, SERVER, say, sayElapsed } from './project.mjs';
import { runChild } from './run-child.mjs';

/** The build reads these, and this file says how. */
const SOURCES = [
  'app',
  'components',
  'lib',
  'server',
  'public',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'next.config.mjs',
  'postcss.config.mjs',
  'server/bootstrap/build.mjs',
  'server/bootstrap/build-client.mjs',
  'server/bootstrap/build-device.mjs',
  'server/bootstrap/built-server.mjs',
  'server/bootstrap/node-version.mjs',
  'server/bootstrap/tsconfig.client.json',
];

/** Written last, when the build is whole. */
const stamp = createStamp(join(ROOT, 'dist', '.callboard-stamp'));

export const isBuilt = () =>
  stamp.exists() &&
  [SERVER, CLIENT_SCRIPT, DEVICE_INDEX].every((file) => existsSync(file)) &&
  hasPages();

/** Next writes its build id last. */
const hasPages = () => existsSync(join(ROOT, '.next', 'BUILD_ID'));

/** Packages that find their own files, such as a binary, so they stay where they are. */
const OUTSIDE = ['next', 'sharp', 'pino', 'ws', '@jitl/*', 'quickjs-emscripten-core'];

/** Bundled CommonJS asks for Node's modules by this name, which a module does not have. */
const REQUIRE = `import { createRequire as createBundleRequire } from 'node:module';
const require = createBundleRequire(import.meta.url);`;

/**
 * These options bundle what runs in Node. Packages are inside: as files of their own they were 1,600,
 * and half of what a start took was to find and load them.
 */
export const NODE_BUNDLE = /** @type {const} */ ({
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node22',
  external: OUTSIDE,
  banner: { js: REQUIRE },
  outExtension: { '.js': '.mjs' },
  logLevel: 'warning',
});

/** `server` starts the server, which is one file, `main`; beside the command line are the processes and threads of tools and the threads of the store. */
export const BUNDLE = /** @type {const} */ ({
  ...NODE_BUNDLE,
  entryPoints: {
    server: 'server/bootstrap/built-server.mjs',
    main: 'server/main/main.ts',
    cli: 'server/cli/main.ts',
    'check-worker': 'server/store/check-worker.ts',
    'database-worker': 'server/tools/builtin/database-worker.ts',
    'program-starter': 'server/tools/workspace/program-starter.ts',
    'run-code-worker': 'server/tools/builtin/run-code-worker.ts',
    'read-worker': 'server/store/read-worker.ts',
    'write-worker': 'server/store/write-worker.ts',
  },
  outdir: 'dist',
});

/** Says whether a file or folder leaves the build as it is. @param {string} path with forward slashes */
export const isOutsideBuild = (path) =>
  path === 'server/bootstrap' || /(\.(test|contract)\.tsx?|\.md|\/testing|\/\.[^/]+)$/.test(path);

/**
 * Builds server and pages when their sources are others than at the last time.
 *
 * @param {import('./project.mjs').Setup} setup
 * @returns {Promise<import('./project.mjs').Problem>}
 */
export async function ensureBuild({ node, env }) {
  const wanted = hashContents(ROOT, SOURCES, isOutsideBuild);
  if (isBuilt() && stamp.matches(wanted)) return undefined;

  say('building …');
  const end = sayElapsed('building');
  mkdirSync(join(ROOT, 'dist'), { recursive: true });
  stamp.remove();
  const problem =
    (await bundleServer()) ??
    (await emitClientTypes({ node, env })) ??
    (await buildPages({ node, env }));
  end();
  if (problem !== undefined) return problem;
  stamp.write(wanted);
  return undefined;
}

/** Bundles the server, the client library and the device page. @returns {Promise<import('./project.mjs').Problem>} */
async function bundleServer() {
  const esbuild = /** @type {typeof import('esbuild')} */ (requirePackage('esbuild'));
  const built = [esbuild.build({ ...BUNDLE, absWorkingDir: ROOT }), bundleClient(), bundleDevice()];
  return Promise.all(built).then(
    () => undefined,
    // It has printed what is wrong, and where.
    () => 'the server could not be built (the reason is above).',
  );
}

/**
 * @param {Pick<import('./project.mjs').Setup, 'node' | 'env'>} setup
 * @returns {Promise<import('./project.mjs').Problem>}
 */
async function buildPages({ node, env }) {
  const { code, output } = await runChild({
    command: node,
    args: [packageProgram('next/dist/bin/next'), 'build'],
    env: { ...env, NODE_ENV: 'production' },
    cwd: ROOT,
    output: 'keep',
  });
  if (code === 0) {
    removeOwnPath();
    return undefined;
  }
  process.stderr.write(output);
  return 'the pages could not be built (the reason is above).';
}

/** Next notes where it built. Where it is installed that is another folder, and the package has no path of this machine. */
function removeOwnPath() {
  const file = join(ROOT, '.next', 'required-server-files.json');
  const here = JSON.stringify(resolve(ROOT));
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(here, '"."'));
}
