import { ensureNode } from './ensure-node.mjs';
import { runsCallboard } from './node-version.mjs';
import { runChild } from './run-child.mjs';
import { QUIET_NODE } from './run-server.mjs';

/**
 * For a program that loads TypeScript of this repository, before it does: on a Node that does not
 * run Callboard the program is run again by the one that does, and this process ends with it.
 *
 * @param {string} program its file
 */
export async function continueOnRightNode(program) {
  if (runsCallboard(process.versions.node)) return;
  const args = [program, ...process.argv.slice(2)];
  process.exit(await runOnNode(args, await ensureNode({ mayInstall: false })));
}

/**
 * @param {readonly string[]} args
 * @param {import('./project.mjs').Setup | { problem: string }} setup
 * @returns {Promise<number>} its exit code
 */
export async function runOnNode(args, setup) {
  if ('problem' in setup) {
    process.stderr.write(`callboard: ${setup.problem}\n`);
    return 1;
  }
  const { node, env } = setup;
  return (await runChild({ command: node, args: [QUIET_NODE, ...args], env, cwd: process.cwd() }))
    .code;
}
