import { statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { packageProgram, ROOT, say } from './project.mjs';
import { aptCommands, mayChangeSystem, runQuietly } from './system-programs.mjs';
import { whyNotStarting } from './try-program.mjs';

const NAMES = ['chromium', 'google-chrome', 'chromium-browser'];

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
  /** @param {string} command */
  const works = async (command) => {
    // Windows: a browser there opens a window instead of answering.
    if (process.platform === 'win32') return true;
    return (await whyNotStarting(command, env)) === undefined;
  };
  const find = () => firstThatWorks(chromiumCandidates({ env, ownPath: playwrightsOwn() }), works);

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
 * Where a Chromium may be, the best first: Playwright's own fits its version.
 *
 * @param {{ env: import('./project.mjs').Environment, ownPath: string | undefined }} known
 */
export function chromiumCandidates({ env, ownPath }) {
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const onPath = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  return [ownPath, ...onPath].filter((path) => path !== undefined);
}

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

/** @returns {string | undefined} */
function playwrightsOwn() {
  const { chromium } = createRequire(join(ROOT, 'package.json'))('playwright');
  return chromium.executablePath() || undefined;
}

/** @param {string} path */
const isFile = (path) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
