import { ROOT, say } from './project.mjs';
import { runChild, whyNotStarting } from './run-child.mjs';

/**
 * A program of the system that tests start.
 *
 * @typedef {object} SystemProgram
 * @property {readonly [string, ...string[]]} names any of them will do
 * @property {readonly string[]} packages Debian's names of what holds it
 * @property {string} purpose what it is for
 * @property {readonly string[]} [starts] the arguments with which it starts and ends; `--version` where not given
 */

/** The README's commands are tried as they stand there. @type {SystemProgram} */
export const CURL = { names: ['curl'], packages: ['curl'], purpose: "the README's commands" };

/** The example of a client in Python runs. @type {SystemProgram} */
export const PYTHON = {
  names: ['python3'],
  packages: ['python3'],
  purpose: 'the example in Python',
};

/** @type {SystemProgram} */
export const C_COMPILER = {
  names: ['cc', 'gcc', 'clang'],
  packages: ['gcc', 'libc6-dev'],
  purpose: "the torture's disk",
};

/** The blocks of docs/https.md are run. @type {readonly SystemProgram[]} */
export const PROXIES = ['nginx', 'caddy'].map((name) => ({
  names: [name],
  packages: [name === 'nginx' ? 'nginx-light' : name],
  purpose: `the test of ${name}'s block in docs/https.md`,
  starts: ['-h'],
}));

/** The engine of each iPhone with what drives it and its screen, and Firefox. @type {readonly SystemProgram[]} */
export const OTHER_BROWSERS = [
  {
    names: ['WebKitWebDriver'],
    packages: ['webkit2gtk-driver'],
    purpose: 'the pages in WebKit',
    starts: ['--help'],
  },
  {
    names: ['xvfb-run'],
    packages: ['xvfb', 'xauth'],
    purpose: 'the pages in WebKit',
    starts: ['--help'],
  },
  {
    names: ['firefox-esr', 'firefox'],
    packages: ['firefox-esr'],
    purpose: 'the pages in Firefox',
  },
];

/**
 * Finds a program on the PATH, or installs it from the system's packages.
 *
 * @param {SystemProgram} program
 * @param {Pick<import('./project.mjs').Setup, 'env'> & { mayInstall?: boolean }} setup
 * @returns {Promise<{ name: string } | { problem: string }>}
 */
export async function ensureProgram(program, { env, mayInstall = mayChangeSystem() }) {
  const { packages, purpose } = program;
  const found = await firstThatStarts(program, env);
  if (found !== undefined) return { name: found };
  if (mayInstall) {
    say(`no ${program.names[0]} found: installing the system package …`);
    await runQuietly(aptCommands(packages), env);
    const installed = await firstThatStarts(program, env);
    if (installed !== undefined) return { name: installed };
  }
  return { problem: `${program.names.join(' or ')} is needed for ${purpose}; install it.` };
}

/** Only where the machine is plainly one's own to change: as root. Debian's tools do the rest. */
export const mayChangeSystem = () => process.getuid?.() === 0;

/**
 * @param {readonly string[]} packages
 * @returns {[string, ...string[]][]}
 */
export const aptCommands = (packages) => [
  ['apt-get', 'update'],
  ['apt-get', 'install', '-y', '--no-install-recommends', ...packages],
];

/**
 * Runs commands without a word and without asking for their outcome: what counts is whether a
 * program is there afterwards.
 *
 * @param {readonly (readonly [string, ...string[]])[]} commands
 * @param {import('./project.mjs').Environment} env
 */
export async function runQuietly(commands, env) {
  const quiet = { ...env, DEBIAN_FRONTEND: 'noninteractive' };
  for (const [command, ...args] of commands) {
    await runChild({ command, args, env: quiet, cwd: ROOT, output: 'keep' });
  }
}

/** @param {SystemProgram} program @param {import('./project.mjs').Environment} env */
async function firstThatStarts({ names, starts }, env) {
  for (const name of names) {
    if ((await whyNotStarting(name, env, starts)) === undefined) return name;
  }
  return undefined;
}
