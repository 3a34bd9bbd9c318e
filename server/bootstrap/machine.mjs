import { readdirSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { packageProgram, ROOT, requirePackage, say } from './project.mjs';
import { runChild, whyNotStarting } from './run-child.mjs';

/**
 * A program of the system that tests start.
 *
 * @typedef {object} SystemProgram
 * @property {readonly [string, ...string[]]} names any of them will do
 * @property {readonly string[]} packages Debian's names of what holds it
 * @property {string} purpose what it is for
 * @property {readonly string[]} [starts] the arguments with which it starts and ends; `--version` where not given
 * @property {() => readonly string[]} [own] files to try before the PATH
 * @property {readonly string[]} [download] the arguments with which Playwright brings it
 * @property {boolean} [isOptional] the tests of one that cannot be had are skipped
 * @property {string} [variable] the variable that names it to the tests
 */

/** @type {SystemProgram} */
export const CHROMIUM = {
  names: ['chromium', 'google-chrome', 'chromium-browser'],
  packages: ['chromium'],
  purpose: 'tests in a browser',
  own: () => [playwrightsChromium()],
  download: ['install', 'chromium'],
  variable: 'CALLBOARD_CHROMIUM',
};

/**
 * Chromium without a window and without what goes with one takes a quarter less processor.
 * Playwright's own is in a folder beside its Chromium: `chromium-1255/…` and
 * `chromium_headless_shell-1255/<system>/<program>`.
 *
 * @type {SystemProgram}
 */
const HEADLESS_SHELL = {
  names: ['chromium-headless-shell'],
  packages: ['chromium-headless-shell'],
  purpose: 'the tests that need no window',
  own() {
    const folder = playwrightsChromium().replace(
      /([\\/])chromium-(\d+)[\\/].*$/,
      '$1chromium_headless_shell-$2',
    );
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [];
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => /(chrome-headless-shell|headless_shell)(\.exe)?$/.test(name))
      .map((name) => join(folder, name));
  },
  isOptional: true,
  variable: 'CALLBOARD_HEADLESS_SHELL',
};

/** @type {SystemProgram} */
export const C_COMPILER = {
  names: ['cc', 'gcc', 'clang'],
  packages: ['gcc', 'libc6-dev'],
  purpose: "the torture's disk",
  // The disk that it compiles is made for Linux; elsewhere the torture goes without.
  isOptional: process.platform !== 'linux',
};

/** @type {Readonly<Record<string, SystemProgram>>} */
const PROGRAMS = {
  chromium: CHROMIUM,
  headlessShell: HEADLESS_SHELL,
  compiler: C_COMPILER,
  curl: { names: ['curl'], packages: ['curl'], purpose: "the README's commands" },
  python: { names: ['python3'], packages: ['python3'], purpose: 'the example in Python' },
  nginx: {
    names: ['nginx'],
    packages: ['nginx-light'],
    purpose: 'the test of its block in docs/https.md',
    starts: ['-h'],
    isOptional: true,
  },
  caddy: {
    names: ['caddy'],
    packages: ['caddy'],
    purpose: 'the test of its block in docs/https.md',
    starts: ['-h'],
    isOptional: true,
  },
  webkit: {
    names: ['WebKitWebDriver'],
    packages: ['webkit2gtk-driver'],
    purpose: 'the pages in WebKit',
    starts: ['--help'],
    isOptional: true,
  },
  screen: {
    names: ['xvfb-run'],
    packages: ['xvfb', 'xauth'],
    purpose: 'the pages in WebKit',
    starts: ['--help'],
    isOptional: true,
  },
  firefox: {
    names: ['firefox-esr', 'firefox'],
    packages: ['firefox-esr'],
    purpose: 'the pages in Firefox',
    isOptional: true,
  },
};

/**
 * Ensures the programs that tests start, in turn, and says in one line which of them cannot be had.
 * Where a person named the browser, all tests take that one.
 *
 * @param {import('./project.mjs').Setup} setup
 * @returns {Promise<{ setup: import('./project.mjs').Setup, missing: string[] }>} the setup with
 *   the variables by which tests find them, and those without which tests would fail
 */
export async function ensurePrograms(setup, programs = PROGRAMS) {
  const found = { ...setup.env };
  const missing = [];
  for (const [name, program] of Object.entries(programs)) {
    if (program === HEADLESS_SHELL && setup.env.CALLBOARD_CHROMIUM) continue;
    const outcome = await ensureProgram(program, setup);
    if ('problem' in outcome) {
      say(program.isOptional ? `${outcome.problem} Tests go without.` : outcome.problem);
      if (!program.isOptional) missing.push(name);
    } else if (program.variable) {
      found[program.variable] = outcome.path;
    }
  }
  return { setup: { ...setup, env: found }, missing };
}

/**
 * Finds a program, or installs it: by Playwright, else from the system's packages where the machine
 * is plainly one's own to change, which is as root on Debian and its kin.
 *
 * @param {SystemProgram} program
 * @param {Pick<import('./project.mjs').Setup, 'env'> & { mayInstall?: boolean }} setup
 * @returns {Promise<{ path: string } | { problem: string }>}
 */
export async function ensureProgram(program, { env, mayInstall = process.getuid?.() === 0 }) {
  const { names, packages, purpose, download, variable } = program;
  const named = variable && env[variable];
  if (named) {
    return isFile(named)
      ? { path: named }
      : { problem: `${variable} is "${named}", which is no file.` };
  }
  /** @type {string[][]} */
  const installs = [];
  if (download) installs.push([process.execPath, packageProgram('playwright/cli.js'), ...download]);
  if (mayInstall) {
    installs.push(['apt-get', 'update']);
    installs.push(['apt-get', 'install', '-y', '--no-install-recommends', ...packages]);
  }
  let path = await firstThatStarts(program, env);
  for (const [command = '', ...args] of installs) {
    if (path !== undefined) break;
    say(`no ${names[0]} found: ${[command, ...args].join(' ')} …`);
    const quiet = { ...env, DEBIAN_FRONTEND: 'noninteractive' };
    // Only what is there afterwards counts, not how the command ended.
    await runChild({ command, args, env: quiet, cwd: ROOT, output: 'keep' });
    path = await firstThatStarts(program, env);
  }
  if (path !== undefined) return { path };
  const how = variable ? `install it, or name one by ${variable}` : 'install it';
  return { problem: `${names.join(' or ')} is needed for ${purpose}; ${how}.` };
}

/**
 * A program may be there and not run: Ubuntu's `chromium-browser` is often a note that points to a
 * shop, and a downloaded one may lack a library of the system.
 *
 * @param {SystemProgram} program
 * @param {import('./project.mjs').Environment} env
 */
async function firstThatStarts({ names, own, starts }, env) {
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const onPath = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  for (const path of [...(own?.() ?? []), ...onPath]) {
    if (!isFile(path)) continue;
    // On Windows a browser opens a window instead of answering.
    if (process.platform === 'win32') return path;
    if ((await whyNotStarting(path, env, starts)) === undefined) return path;
  }
  return undefined;
}

/** @returns {string} */
const playwrightsChromium = () => requirePackage('playwright').chromium.executablePath();

/** @param {string} path */
const isFile = (path) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
