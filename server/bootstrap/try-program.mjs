import { ROOT } from './project.mjs';
import { runChild } from './run-child.mjs';

/**
 * Starts a program as `program --version`, or as it is said. One may be there and not start: it may lack a library of
 * the system, or be made for another one.
 *
 * @param {string} command a path, or a name to look for on the PATH of `env`
 * @param {import('./project.mjs').Environment} env
 * @param {readonly string[]} [args]
 * @returns {Promise<import('./project.mjs').Problem>} the reason, in one line
 */
export async function whyNotStarting(command, env, args = ['--version']) {
  const { code, output } = await runChild({ command, args, env, cwd: ROOT, output: 'keep' });
  if (code === 0) return undefined;
  return output.trim().split('\n')[0] || `${command} ended with ${code}`;
}
