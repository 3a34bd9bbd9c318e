import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { environmentOfServer } from '../../start-callboard.ts';

const SERVER = resolve(import.meta.dirname, '../../../dist/server.mjs');

export interface Ending {
  readonly code: number | null;
  /** Lines of standard error. */
  readonly errors: readonly string[];
  readonly output: string;
}

/** Starts a server that is not expected to start, and waits for its end. */
export async function runServer(
  env: Readonly<Record<string, string>>,
  { cwd, args = [] }: { readonly cwd?: string; readonly args?: readonly string[] } = {},
): Promise<Ending> {
  const dataDir = await mkdtemp(join(tmpdir(), 'callboard-refused-'));
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', SERVER, ...args],
    {
      cwd: cwd ?? dataDir,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...environmentOfServer(),
        CALLBOARD_DATA_DIR: join(dataDir, 'data'),
        ...env,
      },
    },
  );
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk) => {
    output += String(chunk);
    // It did start: that is the answer, and nobody waits for it to end by itself.
    if (output.includes('Callboard is ready')) child.kill('SIGKILL');
  });
  child.stderr.on('data', (chunk) => {
    errors += String(chunk);
  });
  await once(child, 'close');
  await rm(dataDir, { recursive: true, force: true });
  return { code: child.exitCode, output, errors: errors.split('\n').filter((line) => line !== '') };
}
