import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  accessSync,
  chmodSync,
  constants,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ARGS, type Calls } from './kinds.ts';

const run = promisify(execFile);

/** A call as a database has it at least: made in one durable transaction, ended in another. */
const PAIR = `INSERT INTO calls (body) VALUES ('${JSON.stringify(ARGS)}') RETURNING id \\gset
UPDATE calls SET result = '${JSON.stringify(ARGS)}' WHERE id = :id;
`;

export interface Postgres {
  /** So many pairs, by so many connections. */
  pairs(count: number, inFlight: number): Promise<Calls>;
  stop(): Promise<void>;
}

/** A server of its own, with its defaults (fsync and synchronous_commit are on); undefined where none is installed. */
export async function startPostgres(): Promise<Postgres | undefined> {
  const bin = findBin();
  const user = bin && serverUser();
  if (!bin || !user) return undefined;
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'callboard-postgres-')));
  chmodSync(dir, 0o777); // Its server runs as another user when this one is root.
  const data = join(dir, 'data');
  const options = { cwd: dir, ...user };
  await run(join(bin, 'initdb'), ['-A', 'trust', '-U', 'bench', '-D', data], options);
  const server = spawn(join(bin, 'postgres'), ['-D', data, '-k', dir, '-c', 'listen_addresses='], {
    ...options,
    stdio: 'ignore',
  });
  const connection = ['-h', dir, '-U', 'bench'];
  const isReady = () =>
    run(join(bin, 'pg_isready'), connection, options).then(
      () => true,
      () => false,
    );
  while (!(await isReady())) {
    if (server.exitCode !== null) throw new Error(`Postgres ended with ${server.exitCode}`);
  }
  const table = 'CREATE TABLE calls (id bigserial PRIMARY KEY, body text, result text)';
  await run(join(bin, 'psql'), [...connection, '-d', 'postgres', '-c', table], options);
  const script = join(dir, 'pair.sql');
  writeFileSync(script, PAIR);
  let runs = 0;
  return {
    async pairs(count, inFlight) {
      runs += 1;
      const logs = join(dir, `run-${runs}`);
      mkdirSync(logs);
      chmodSync(logs, 0o777);
      const each = Math.ceil(count / inFlight);
      const load = ['-n', '-M', 'prepared', '-c', `${inFlight}`, '-t', `${each}`, '-f', script];
      const { stdout } = await run(
        join(bin, 'pgbench'),
        [...connection, ...load, '-l', '--log-prefix', join(logs, 'log'), 'postgres'],
        { ...options, maxBuffer: 2 ** 24 },
      );
      const perSecond = Number(/tps = ([\d.]+)/.exec(stdout)?.[1]);
      return { times: await readTimes(logs), perSecond };
    },
    async stop() {
      server.kill('SIGINT');
      await once(server, 'exit');
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** The third column of each line is the time of one pair, in microseconds. */
async function readTimes(logs: string): Promise<number[]> {
  const { stdout } = await run('ls', [logs]);
  const files = stdout.trim().split('\n');
  return files.flatMap((file) =>
    readFileSync(join(logs, file), 'utf8')
      .trim()
      .split('\n')
      .map((line) => Number(line.split(' ')[2]) / 1000),
  );
}

/** Where `pgbench` lies beside `postgres`. */
function findBin(): string | undefined {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    try {
      const bin = dirname(realpathSync(join(folder, 'postgres')));
      for (const program of ['initdb', 'psql', 'pg_isready', 'pgbench']) {
        accessSync(join(bin, program), constants.X_OK);
      }
      return bin;
    } catch {
      // Not in this folder.
    }
  }
  return undefined;
}

/** Postgres does not run as root. */
function serverUser(): { uid?: number; gid?: number } | undefined {
  if (process.getuid?.() !== 0) return {};
  try {
    const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { stdio: 'pipe' }));
    return { uid: id('-u'), gid: id('-g') };
  } catch {
    return undefined;
  }
}
