import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { C_COMPILER, ensureProgram } from '../../../server/bootstrap/machine.mjs';

const run = promisify(execFile);

export type BuiltShim =
  | { readonly ok: true; readonly file: string }
  | { readonly ok: false; readonly reason: string };

/** Compiles `shim.c` into a folder; where there is no compiler, and it may, it installs one. */
export async function buildShim(folder: string): Promise<BuiltShim> {
  if (process.platform !== 'linux') {
    return { ok: false, reason: `the disk shim is made for Linux; this is ${process.platform}` };
  }
  const source = join(import.meta.dirname, 'shim.c');
  const file = join(folder, 'shim.so');
  const compiler = await ensureProgram(C_COMPILER, { env: process.env });
  if ('problem' in compiler) return { ok: false, reason: compiler.problem };
  try {
    await run(compiler.path, ['-O1', '-shared', '-fPIC', '-o', file, source, '-ldl', '-lpthread']);
    return { ok: true, file };
  } catch (error) {
    return { ok: false, reason: `${compiler.path} could not compile the disk shim: ${error}` };
  }
}
