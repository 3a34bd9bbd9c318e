import { ensureNode } from './ensure-node.mjs';
import { runsCallboard } from './node-version.mjs';
import { runChild } from './run-child.mjs';
import { QUIET_NODE } from './run-server.mjs';

/**
 * A program that loads TypeScript of this repository calls this before it does: on a Node that does
 * not run Callboard the program is run again by the one that does, and this process ends with it.
 *
 * @param {string} program its file
 */
export async function continueOnRightNode(program) {
  if (runsCallboard(process.versions.node)) return;
  const setup = await ensureNode({ mayInstall: false });
  if ('problem' in setup) {
    process.stderr.write(`callboard: ${setup.problem}\n`);
    process.exit(1);
  }
  const args = [QUIET_NODE, program, ...process.argv.slice(2)];
  const { node, env } = setup;
  const { code } = await runChild({ command: node, args, env, cwd: process.cwd() });
  process.exit(code);
}
