import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { formatBytes } from '#lib/format/amounts';
import { errorMessage } from '#lib/util/error-message';
import { given } from '#lib/util/given';
import { problemOfNode } from '../../bootstrap/node-version.mjs';
import type { Context } from '../command.ts';
import type { DataDir } from '../connect.ts';

/** One step of the examination found it. `mend` is there where something is to be done. */
export interface Finding {
  /** Stable, for programs. */
  readonly step: string;
  readonly state: 'ok' | 'warning' | 'failed' | 'skipped';
  readonly text: string;
  readonly mend?: string;
}

export interface Examined {
  readonly context: Context;
  readonly dataDir: DataDir;
  /** The server's address; undefined where none is known. */
  readonly url: URL | undefined;
}

export type Check = (examined: Examined) => Promise<readonly Finding[]> | readonly Finding[];

export const found = (
  step: string,
  state: Finding['state'],
  text: string,
  mend?: string,
): Finding => ({ step, state, text, ...given({ mend }) });

export const checkNode: Check = () => {
  const { node } = process.versions;
  const problem = problemOfNode(node);
  return [found('node', problem === undefined ? 'ok' : 'failed', `Node ${node}`, problem)];
};

/** Secrets lie there: it is for its owner alone. */
export const checkDataDir: Check = ({ dataDir: { dir } }) => {
  if (!existsSync(dir)) {
    return [found('data_dir', 'skipped', `${dir} is not there; the first start makes it`)];
  }
  if (!statSync(dir).isDirectory()) {
    const mend = 'set CALLBOARD_DATA_DIR to a folder';
    return [found('data_dir', 'failed', `${dir} is not a folder`, mend)];
  }
  return [writableFinding(dir), ...[dir, join(dir, 'token')].flatMap(modeFinding)];
};

function writableFinding(dir: string): Finding {
  try {
    accessSync(dir, constants.R_OK | constants.W_OK | constants.X_OK);
    return found('data_dir', 'ok', `${dir} can be read and written`);
  } catch (error) {
    const mend = `give it to the user who runs the server: chown -R "$USER" ${dir}`;
    return found('data_dir', 'failed', errorMessage(error), mend);
  }
}

function modeFinding(path: string): Finding[] {
  // Windows has other rights, which its user folder has set.
  if (process.platform === 'win32' || !existsSync(path)) return [];
  const facts = statSync(path);
  if ((facts.mode & 0o077) === 0) return [];
  const text = `${path} is open to others (mode ${(facts.mode & 0o777).toString(8)})`;
  const right = facts.isDirectory() ? '700' : '600';
  return [found('data_dir_mode', 'warning', text, `chmod ${right} ${path}`)];
}

const NEEDED_BYTES = 100e6;
const WANTED_BYTES = 1e9;

export const checkDisk: Check = ({ dataDir: { dir } }) => {
  const { bavail, bsize } = statfsSync(nearestExisting(dir));
  const free = bavail * bsize;
  const text = `${formatBytes(free, 'en')} free for ${dir}`;
  if (free >= WANTED_BYTES) return [found('disk', 'ok', text)];
  const mend =
    'make room, or let the history end earlier: CALLBOARD_KEEP_DAYS, CALLBOARD_KEEP_BYTES';
  return [found('disk', free >= NEEDED_BYTES ? 'warning' : 'failed', text, mend)];
};

function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}

/** Finds out whether a server that does not run could listen. */
export const checkPort: Check = async ({ context, dataDir, url }) => {
  if (dataDir.isInUse() || url !== undefined) return [];
  const { env } = context;
  const port = Number(env.CALLBOARD_PORT?.trim() || 3000);
  const host = env.CALLBOARD_HOST?.trim() || '127.0.0.1';
  const problem = await listenProblem(host, port);
  if (problem === undefined) return [found('port', 'ok', `${host}:${port} is free`)];
  const mend = 'set CALLBOARD_PORT to another, or to 0 for any';
  return [found('port', 'failed', `${host}:${port} cannot be used: ${problem}`, mend)];
};

function listenProblem(host: string, port: number): Promise<string | undefined> {
  return new Promise((answer) => {
    const probe = createServer();
    probe.once('error', (error) => answer(error.message));
    try {
      probe.listen({ host, port }, () => probe.close(() => answer(undefined)));
    } catch (error) {
      answer(errorMessage(error));
    }
  });
}
