import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** This folder: the launcher, and the manifest and lock of the private Node. */
export const BOOTSTRAP = fileURLToPath(new URL('.', import.meta.url));

/** The project's root. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The built server. */
export const SERVER = join(ROOT, 'dist', 'server.mjs');

/**
 * Environment variables. Not NodeJS.ProcessEnv: Next makes NODE_ENV a must in that.
 *
 * @typedef {Record<string, string | undefined>} Environment
 */

/**
 * Every step works with the Node that runs Callboard, the environment in which that Node is the
 * first on the PATH, and npm's own program.
 *
 * @typedef {object} Setup
 * @property {string} node
 * @property {Environment} env
 * @property {string | undefined} npmCli
 */

/**
 * Why the launcher cannot go on, in one line, or undefined when all is well.
 *
 * @typedef {string | undefined} Problem
 */

/**
 * Gives a package's program as a JavaScript file for any Node, which `node_modules/.bin` is not on Windows.
 *
 * @param {string} path inside `node_modules`
 */
export const packageProgram = (path) => join(ROOT, 'node_modules', ...path.split('/'));

/** Loads a package. It is called only when something is built: before they are installed there are none. */
export const requirePackage = createRequire(join(ROOT, 'package.json'));

/** Prints one line of progress. @param {string} line */
export const say = (line) => void process.stdout.write(`callboard: ${line}\n`);

/** Prints a sign of life of a long step every 30 seconds, and returns what ends it. @param {string} step */
export function sayElapsed(step) {
  const startedAt = performance.now();
  const timer = setInterval(
    () => say(`${step}: ${Math.round((performance.now() - startedAt) / 1_000)} s so far …`),
    30_000,
  );
  timer.unref();
  return () => clearInterval(timer);
}
