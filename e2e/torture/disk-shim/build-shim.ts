import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const COMPILERS = ['cc', 'gcc', 'clang'];
const INSTALL_MS = 120_000;

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
  const compiler = (await findCompiler()) ?? ((await install()) ? await findCompiler() : undefined);
  if (compiler === undefined) {
    return { ok: false, reason: 'there is no C compiler (cc, gcc or clang) for the disk shim' };
  }
  try {
    await run(compiler, ['-O1', '-shared', '-fPIC', '-o', file, source, '-ldl', '-lpthread']);
    return { ok: true, file };
  } catch (error) {
    return { ok: false, reason: `${compiler} could not compile the disk shim: ${error}` };
  }
}

async function findCompiler(): Promise<string | undefined> {
  for (const name of COMPILERS) {
    const isThere = await run(name, ['--version']).then(
      () => true,
      () => false,
    );
    if (isThere) return name;
  }
  return undefined;
}

/** Only where the machine is plainly one's own to change: as root, with Debian's tools. */
async function install(): Promise<boolean> {
  if (process.getuid?.() !== 0) return false;
  const options = {
    timeout: INSTALL_MS,
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  };
  try {
    await run('apt-get', ['install', '-y', 'gcc', 'libc6-dev'], options);
    return true;
  } catch {
    return false;
  }
}
