import { SERVER } from './build.mjs';
import { ROOT } from './project.mjs';
import { runChild } from './run-child.mjs';

/** node:sqlite and type stripping work; that they are young is no news for who runs the server. */
export const QUIET_NODE = '--disable-warning=ExperimentalWarning';

/**
 * Runs what is built until it ends; gives its exit code.
 *
 * @param {import('./project.mjs').Setup} setup
 * @param {{ openBrowser: boolean }} options
 */
export async function runBuiltServer({ node, env }, { openBrowser }) {
  const open = openBrowser ? { CALLBOARD_OPEN: '1' } : {};
  const { code } = await runChild({
    command: node,
    args: [QUIET_NODE, SERVER],
    env: { ...env, NODE_ENV: 'production', ...open },
    cwd: ROOT,
    output: 'channel',
  });
  return code;
}
