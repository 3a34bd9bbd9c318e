/**
 * The launcher behind every script of package.json: `node server/bootstrap/run.mjs <command>`.
 *
 * It needs nothing but Node's own modules, because it is what brings the rest: a Node that is new
 * enough, the packages, the build. Each of them is made once and again only when what it is made
 * from has changed, so that a second start is a start and nothing else.
 */
import { ensureBuild, isBuilt } from './build.mjs';
import { ensureNode, ensurePackages } from './ensure-node.mjs';
import { CHROMIUM, ensureProgram } from './machine.mjs';
import { ROOT } from './project.mjs';
import { runAllChecks, runStaticChecks } from './run-checks.mjs';
import { runChild } from './run-child.mjs';
import { runDevelopmentServer } from './run-development-server.mjs';
import { QUIET_NODE, runBuiltServer } from './run-server.mjs';

/**
 * `needs` is made sure of before the command runs; it gives an exit code.
 *
 * @typedef {object} Command
 * @property {'nothing' | 'packages' | 'build'} needs
 * @property {(setup: import('./project.mjs').Setup, args: string[]) => Promise<number>} run
 */

/** @type {Map<string, Command>} */
const COMMANDS = new Map([
  [
    'start',
    { needs: 'build', run: (setup, args) => runBuiltServer(setup, { openBrowser: true, args }) },
  ],
  ['serve', { needs: 'nothing', run: serve }],
  ['dev', { needs: 'packages', run: runDevelopmentServer }],
  ['build', { needs: 'build', run: async () => 0 }],
  ['test', { needs: 'packages', run: runAllChecks }],
  ['check', { needs: 'packages', run: runStaticChecks }],
  ['bench', { needs: 'build', run: withChromium('e2e/bench/main.ts') }],
  ['torture', { needs: 'build', run: withChromium('e2e/torture/main.ts') }],
  ['agents', { needs: 'build', run: withChromium('e2e/agents/main.ts') }],
  ['picture', { needs: 'build', run: withChromium('e2e/make-picture.ts') }],
]);

const [name = '', ...args] = process.argv.slice(2);
process.exitCode = await main(name, args);

/** @param {string} name @param {string[]} args */
async function main(name, args) {
  const command = COMMANDS.get(name);
  if (command === undefined) return fail(`what to do? One of: ${[...COMMANDS.keys()].join(', ')}.`);

  const setup = await ensureNode({ mayInstall: command.needs !== 'nothing' });
  if ('problem' in setup) return fail(setup.problem);
  if (command.needs !== 'nothing') {
    const problem = await ensurePackages(setup);
    if (problem !== undefined) return fail(problem);
  }
  if (command.needs === 'build') {
    const problem = await ensureBuild(setup);
    if (problem !== undefined) return fail(problem);
  }
  return command.run(setup, args);
}

/** @param {import('./project.mjs').Setup} setup @param {string[]} args */
async function serve(setup, args) {
  if (!isBuilt()) return fail('nothing is built yet; run `npm run build` (or `npm start`) once.');
  return runBuiltServer(setup, { openBrowser: false, args });
}

/**
 * Runs a program beside the tests that drives the built server and a Chromium.
 *
 * @param {string} file
 * @returns {Command['run']}
 */
function withChromium(file) {
  return async (setup, args) => {
    const browser = await ensureProgram(CHROMIUM, setup);
    if ('problem' in browser) return fail(browser.problem);
    const env = { ...setup.env, NODE_ENV: 'production', CALLBOARD_CHROMIUM: browser.path };
    const command = [QUIET_NODE, file, ...args];
    return (await runChild({ command: setup.node, args: command, env, cwd: ROOT })).code;
  };
}

/** Prints one line, and gives the exit code that goes with it. @param {string} problem */
function fail(problem) {
  process.stderr.write(`callboard: ${problem}\n`);
  return 1;
}
