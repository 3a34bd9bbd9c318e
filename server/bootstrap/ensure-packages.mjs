import { join } from 'node:path';
import { createStamp, hashContents } from './content-stamp.mjs';
import { npmCiArgs } from './npm-cli.mjs';
import { ROOT, say, sayElapsed } from './project.mjs';
import { runChild } from './run-child.mjs';

/**
 * Installs the project's packages when the manifest, the lock or the platform is another than at
 * the last time. The stamp lies in `node_modules`, so it goes when that goes.
 *
 * @param {import('./project.mjs').Setup} setup
 * @returns {Promise<import('./project.mjs').Problem>}
 */
export async function ensurePackages({ node, env, npmCli }) {
  const stamp = createStamp(join(ROOT, 'node_modules', '.callboard-stamp'));
  const contents = hashContents(ROOT, ['package.json', 'package-lock.json']);
  const wanted = `${contents} ${process.platform} ${process.arch} ${process.versions.node}`;
  if (stamp.matches(wanted)) return undefined;
  if (npmCli === undefined) return 'npm was not found; start with `npm start`.';

  say('installing packages …');
  const quiet = sayElapsed('installing packages');
  stamp.remove();
  const args = npmCiArgs(npmCli, ROOT);
  const { code, output } = await runChild({ command: node, args, env, cwd: ROOT, output: 'keep' });
  quiet();
  if (code !== 0) {
    process.stderr.write(output);
    return 'the packages could not be installed (npm says why above).';
  }
  stamp.write(wanted);
  return undefined;
}
