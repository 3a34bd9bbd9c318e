import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

export interface Place {
  readonly home: string;
  /** Where the program is started; empty, and below its home. */
  readonly work: string;
}

/** A home of its own for one program, with nothing of the person who runs this. Removed after `use`. */
export async function withHome<T>(use: (place: Place) => Promise<T>): Promise<T> {
  const home = await mkdtemp(join(tmpdir(), 'callboard-agent-'));
  const work = join(home, 'work');
  try {
    await mkdir(work);
    return await use({ home, work });
  } finally {
    await rm(home, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** A proxy that does not answer: what is not on this machine cannot be reached. */
const NOWHERE = 'http://127.0.0.1:9';

const OFFLINE = {
  ...{ HTTP_PROXY: NOWHERE, HTTPS_PROXY: NOWHERE, ALL_PROXY: NOWHERE },
  ...{ http_proxy: NOWHERE, https_proxy: NOWHERE, all_proxy: NOWHERE },
  ...{ NO_PROXY: '127.0.0.1,localhost', no_proxy: '127.0.0.1,localhost' },
};

const LONGEST_MS = 180_000;

interface Program {
  readonly script: string;
  readonly programs: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a script of the shell with the programs of a folder, and nothing of this environment but the PATH. */
export async function runProgram(
  { home, work }: Place,
  { script, programs, env = {} }: Program,
): Promise<{ readonly code: number | null; readonly output: string }> {
  const child = spawn('sh', ['-c', script], {
    cwd: work,
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, so that what it starts ends with it.
    detached: true,
    env: {
      ...{ HOME: home, PATH: [programs, process.env.PATH].join(delimiter), NO_COLOR: '1' },
      NODE_ENV: 'production',
      ...OFFLINE,
      ...env,
    },
  });
  let output = '';
  const add = (chunk: Buffer) => {
    output += chunk.toString();
  };
  child.stdout.on('data', add);
  child.stderr.on('data', add);
  const end = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  };
  const tooLate = setTimeout(end, LONGEST_MS);
  const [code] = (await once(child, 'exit')) as [number | null];
  clearTimeout(tooLate);
  end();
  return { code, output };
}
