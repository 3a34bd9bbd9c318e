import { existsSync, realpathSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';

/** @param {string | undefined} path */
const isNpmCli = (path) => path !== undefined && /^npm-cli\.c?js$/.test(basename(path));

/**
 * npm's own program as a JavaScript file, so that any Node can run it without a shell: what npm
 * says of itself when it runs a script, else what came with this Node, else the PATH's `npm`.
 * Other package managers set `npm_execpath` too; those are passed over.
 *
 * @param {{ env: import('./project.mjs').Environment, execPath: string }} caller
 * @returns {string | undefined}
 */
export function findNpmCli({ env, execPath }) {
  const besideNode = dirname(execPath);
  const candidates = [
    env.npm_execpath,
    join(besideNode, '..', 'lib', 'node_modules', 'npm', 'bin', 'npm-cli.js'),
    join(besideNode, 'node_modules', 'npm', 'bin', 'npm-cli.js'),
    ...(env.PATH ?? '').split(delimiter).map((folder) => realPath(join(folder, 'npm'))),
  ];
  return candidates.find((path) => path !== undefined && isNpmCli(path) && existsSync(path));
}

/**
 * `npm ci` for one folder. `--prefix` wins over the `npm_config_local_prefix` that npm leaves in
 * the environment of its scripts; `--include` wins over NODE_ENV=production, which would leave the
 * build tools out; install scripts never run.
 *
 * @param {string} npmCli
 * @param {string} folder
 */
export function npmCiArgs(npmCli, folder) {
  const include = ['--include=dev', '--include=optional'];
  return [
    npmCli,
    'ci',
    '--prefix',
    folder,
    ...include,
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
  ];
}

/** @param {string} path */
function realPath(path) {
  return existsSync(path) ? realpathSync(path) : undefined;
}
