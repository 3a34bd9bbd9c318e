import { readdirSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { packageProgram, requirePackage, say } from './project.mjs';
import { whyNotStarting } from './run-child.mjs';
import { aptCommands, mayChangeSystem, runQuietly } from './system-programs.mjs';

const NAMES = ['chromium', 'google-chrome', 'chromium-browser'];

/** Chromium without a window and without what goes with one: it takes a quarter less processor. */
const SHELL_NAME = 'chromium-headless-shell';
const PLAYWRIGHTS_SHELLS = ['chrome-headless-shell', 'headless_shell', 'chrome-headless-shell.exe'];

const HOW_TO = 'install Chromium or Chrome, or name one by CALLBOARD_CHROMIUM=/path/to/chromium.';

/**
 * Finds a Chromium for the end-to-end tests, or installs one: Playwright's own, else, as root on
 * Debian and its kin, the system's.
 *
 * @param {import('./project.mjs').Setup} setup
 * @returns {Promise<{ path: string } | { problem: string }>}
 */
export async function ensureChromium({ node, env }) {
  const named = env.CALLBOARD_CHROMIUM;
  if (named) {
    if (isFile(named)) return { path: named };
    return { problem: `CALLBOARD_CHROMIUM is "${named}", which is no file; ${HOW_TO}` };
  }
  const find = () =>
    firstThatWorks(chromiumCandidates({ env, ownPath: playwrightsOwn() }), startsIn(env));

  for (const install of [undefined, ...installers({ node, isRoot: mayChangeSystem() })]) {
    if (install !== undefined) {
      say(`no Chromium found: ${install.what} …`);
      await runQuietly(install.commands, env);
    }
    const path = await find();
    if (path !== undefined) return { path };
  }
  return { problem: `no Chromium was found, and none could be installed: ${HOW_TO}` };
}

/**
 * Finds a headless shell for the tests that need no more than that, or installs one from where the
 * Chromium came. Without one, these tests take the Chromium as well, so it is no problem; nor is one
 * looked for where a person named the browser for the tests.
 *
 * @param {import('./project.mjs').Setup} setup
 * @param {{ ownPath?: string | undefined, isRoot?: boolean, install?: typeof runQuietly }} [machine]
 * @returns {Promise<string | undefined>}
 */
export async function ensureHeadlessShell(
  { node, env },
  { ownPath = playwrightsOwn(), isRoot = mayChangeSystem(), install = runQuietly } = {},
) {
  if (env.CALLBOARD_CHROMIUM) return undefined;
  const find = () => firstThatWorks(shellCandidates({ env, ownPath }), startsIn(env));
  const found = await find();
  if (found !== undefined) return found;
  const hasOwn = ownPath !== undefined && isFile(ownPath);
  const way = shellInstaller({ node, isRoot, hasOwn });
  if (way === undefined) return undefined;
  say(`no headless shell of Chromium found: ${way.what} …`);
  await install(way.commands, env);
  return find();
}

/** @param {import('./project.mjs').Environment} env */
const startsIn = (env) => async (/** @type {string} */ command) => {
  // Windows: a browser there opens a window instead of answering.
  if (process.platform === 'win32') return true;
  return (await whyNotStarting(command, env)) === undefined;
};

/**
 * Where a Chromium may be, the best first: Playwright's own fits its version.
 *
 * @param {{ env: import('./project.mjs').Environment, ownPath: string | undefined }} known
 */
export function chromiumCandidates({ env, ownPath }) {
  const found = NAMES.flatMap((name) => onPath(name, env));
  return [ownPath, ...found].filter((path) => path !== undefined);
}

/**
 * Where a headless shell may be. Playwright's own is in a folder beside that of its Chromium:
 * `chromium-1255/chrome-linux64/chrome`, `chromium_headless_shell-1255/<system>/<program>`.
 *
 * @param {{ env: import('./project.mjs').Environment, ownPath: string | undefined }} known
 */
export function shellCandidates({ env, ownPath }) {
  const folder = ownPath?.replace(/([\\/])chromium-(\d+)[\\/].*$/, '$1chromium_headless_shell-$2');
  const own =
    folder === undefined || folder === ownPath
      ? []
      : foldersIn(folder).flatMap((system) =>
          PLAYWRIGHTS_SHELLS.map((name) => join(folder, system, name)),
        );
  return [...own, ...onPath(SHELL_NAME, env)];
}

/** @param {string} name @param {import('./project.mjs').Environment} env */
const onPath = (name, env) =>
  (env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name));

/** @param {string} folder */
const foldersIn = (folder) =>
  statSync(folder, { throwIfNoEntry: false })?.isDirectory() ? readdirSync(folder).sort() : [];

/**
 * A program may be there and not run: Ubuntu's `chromium-browser` is often a note that points to a
 * shop, and a downloaded one may lack a library of the system.
 *
 * @param {readonly string[]} candidates
 * @param {(path: string) => Promise<boolean>} works
 */
export async function firstThatWorks(candidates, works) {
  for (const path of candidates) {
    if (isFile(path) && (await works(path))) return path;
  }
  return undefined;
}

/**
 * The ways to install one, in the order to try.
 *
 * @param {{ node: string, isRoot: boolean }} machine
 * @returns {{ what: string, commands: [string, ...string[]][] }[]}
 */
export function installers({ node, isRoot }) {
  const playwright = packageProgram('playwright/cli.js');
  /** @type {{ what: string, commands: [string, ...string[]][] }[]} */
  const ways = [
    { what: "downloading Playwright's", commands: [[node, playwright, 'install', 'chromium']] },
  ];
  if (isRoot) {
    ways.push({ what: 'installing the system package', commands: aptCommands(['chromium']) });
  }
  return ways;
}

/**
 * A download is only tried where Playwright's Chromium is there: elsewhere it has failed before, or
 * was not wanted.
 *
 * @param {{ node: string, isRoot: boolean, hasOwn: boolean }} machine
 * @returns {{ what: string, commands: [string, ...string[]][] } | undefined}
 */
export function shellInstaller({ node, isRoot, hasOwn }) {
  if (hasOwn) {
    const playwright = packageProgram('playwright/cli.js');
    const command = /** @type {[string, ...string[]]} */ ([node, playwright, 'install']);
    return {
      what: "downloading Playwright's",
      commands: [[...command, '--only-shell', 'chromium']],
    };
  }
  if (!isRoot) return undefined;
  return { what: 'installing the system package', commands: aptCommands([SHELL_NAME]) };
}

/** @returns {string | undefined} */
function playwrightsOwn() {
  const { chromium } = requirePackage('playwright');
  return chromium.executablePath() || undefined;
}

/** @param {string} path */
const isFile = (path) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
