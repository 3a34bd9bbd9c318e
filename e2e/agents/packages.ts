import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findNpmCli } from '../../server/bootstrap/ensure-node.mjs';

export interface Package {
  readonly package: string;
  readonly version: string;
}

/**
 * Installs a package in a folder of its own under `root`, unless that has it; gives the folder of
 * its programs. Its install scripts run: they put the program for this machine in its place.
 */
export async function installPackage(root: string, wanted: Package): Promise<string> {
  const folder = join(root, wanted.package.replace('@', '').replace('/', '-'));
  const programs = join(folder, 'node_modules', '.bin');
  if ((await versionIn(folder, wanted.package)) === wanted.version) return programs;
  const npm = findNpmCli({ env: process.env, execPath: process.execPath });
  if (npm === undefined) throw new Error('No npm was found; run this as `npm run agents`');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), '{"private": true}\n');
  const spec = `${wanted.package}@${wanted.version}`;
  const args = [npm, 'install', '--prefix', folder, '--no-audit', '--no-fund', '--no-save', spec];
  const child = spawn(process.execPath, args, {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`npm install of ${spec} ended with ${code}`);
  return programs;
}

async function versionIn(folder: string, name: string): Promise<unknown> {
  try {
    const text = await readFile(join(folder, 'node_modules', name, 'package.json'), 'utf8');
    return (JSON.parse(text) as { version: unknown }).version;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
