import { ensureBuild } from './build.mjs';
import { ensureChromium, ensureHeadlessShell } from './find-chromium.mjs';
import { say } from './project.mjs';
import { wasTold } from './run-child.mjs';
import {
  C_COMPILER,
  CURL,
  ensureProgram,
  OTHER_BROWSERS,
  PROXIES,
  PYTHON,
} from './system-programs.mjs';

/**
 * @typedef {import('./project.mjs').Setup} Setup
 * @typedef {import('./project.mjs').Environment} Environment
 *
 * What a stage of the tests cannot do without.
 * @typedef {'build' | 'chromium' | 'curl' | 'python' | 'compiler' | 'proxies' | 'browsers'} Need
 *
 * Makes, finds or installs one; gives the variables by which tests find it.
 * @typedef {(setup: Setup) => Promise<{ env: Environment } | { problem: string }>} Way
 */

/** @type {Readonly<Record<Need, Way>>} */
const WAYS = {
  build: async (setup) => {
    const problem = await ensureBuild(setup);
    return problem === undefined ? { env: {} } : { problem };
  },
  chromium: async (setup) => {
    const browser = await ensureChromium(setup);
    if ('problem' in browser) return browser;
    const shell = await ensureHeadlessShell(setup);
    return {
      env: { CALLBOARD_CHROMIUM: browser.path, CALLBOARD_HEADLESS_SHELL: shell ?? '' },
    };
  },
  curl: (setup) => onPath(CURL, setup),
  python: (setup) => onPath(PYTHON, setup),
  // What it compiles is made for Linux; elsewhere the torture goes without.
  compiler: async (setup) =>
    process.platform === 'linux' ? onPath(C_COMPILER, setup) : { env: {} },
  proxies: (setup) => orSkipped(PROXIES, setup),
  browsers: (setup) => orSkipped(OTHER_BROWSERS, setup),
};

/**
 * The tests of those that cannot be had are skipped.
 *
 * @param {readonly import('./system-programs.mjs').SystemProgram[]} programs
 * @param {Setup} setup
 */
async function orSkipped(programs, setup) {
  for (const program of programs) {
    const found = await ensureProgram(program, setup);
    if ('problem' in found) say(`${found.problem} That test is skipped.`);
  }
  return { env: {} };
}

/**
 * @param {import('./system-programs.mjs').SystemProgram} program
 * @param {Setup} setup
 */
async function onPath(program, setup) {
  const found = await ensureProgram(program, setup);
  return 'problem' in found ? found : { env: {} };
}

/**
 * Ensures each need once, in turn. One that cannot be had is one line.
 *
 * @param {readonly Need[]} needs
 * @param {Setup} setup
 * @param {Readonly<Record<Need, Way>>} [ways]
 * @returns {Promise<{ setup: Setup, missing: readonly Need[] }>} the setup with what was found
 */
export async function ensureNeeds(needs, setup, ways = WAYS) {
  const missing = /** @type {Need[]} */ ([]);
  let { env } = setup;
  for (const need of new Set(needs)) {
    const outcome = await ways[need]({ ...setup, env });
    if (wasTold()) process.exit(1);
    if ('problem' in outcome) {
      missing.push(need);
      say(outcome.problem);
    } else {
      env = { ...env, ...outcome.env };
    }
  }
  return { setup: { ...setup, env }, missing };
}
