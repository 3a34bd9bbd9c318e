import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Random } from '../random.ts';
import { type PowerCut, replayDisk } from './replay-disk.ts';
import { createShimControl, type ShimControl } from './shim-control.ts';
import { type DiskEvent, readShimLog } from './shim-log.ts';

/** A directory that a program works on through the shim, so that its power can be cut. */
export interface ShimmedDisk {
  /** For the program's next start. */
  env(): Readonly<Record<string, string>>;
  readonly control: ShimControl;
  /** After the program was killed: the directory becomes what the cut would have left of it. */
  cutPower(
    random: Random,
    options: { readonly garbage: boolean; readonly losesSince?: number },
  ): PowerCut;
  /** How many events there were since the last cut, for `losesSince`. */
  events(): number;
  /** The files as a cut at an earlier moment would have left them. */
  lookBack(
    random: Random,
    options: { readonly garbage: boolean; readonly moment: Moment },
  ): EarlierCut;
}

/**
 * A store has its most delicate moments while it is made and at a start, and
 * when its log begins anew over an older one.
 */
export type Moment = 'any' | 'early' | 'log begins';

/** The head of SQLite's log. */
const LOG_HEAD_BYTES = 32;
const EARLY_EVENTS = 100;

function pickMoment(events: readonly DiskEvent[], moment: Moment, random: Random): number {
  const begins = events.flatMap((event, index) =>
    event.op === 'write' && event.offset === 0 && event.data.length === LOG_HEAD_BYTES
      ? [index + 1]
      : [],
  );
  if (moment === 'log begins' && begins.length > 0) {
    return Math.min(events.length, random.pick(begins) + random.between(0, 4));
  }
  return random.between(0, Math.min(events.length, moment === 'early' ? EARLY_EVENTS : Infinity));
}

export interface EarlierCut {
  readonly files: ReadonlyMap<string, Buffer>;
  readonly events: readonly DiskEvent[];
}

export function createShimmedDisk(options: {
  readonly shimFile: string;
  /** Empty so far, or not there. */
  readonly dir: string;
  /** For logs and the control file. */
  readonly besideDir: string;
  readonly name: string;
  /** Without a log nothing can be cut, and it is faster. */
  readonly keepsLog: boolean;
}): ShimmedDisk {
  const { shimFile, dir, besideDir, name } = options;
  const control = createShimControl(join(besideDir, `${name}.control`));
  let before: ReadonlyMap<string, Buffer> = new Map();
  let logs: string[] = [];
  let starts = 0;
  const read = () => logs.filter(existsSync).map((log) => readFileSync(log));

  return {
    control,
    env() {
      starts += 1;
      const log = join(besideDir, `${name}.${starts}.log`);
      logs.push(log);
      return {
        LD_PRELOAD: shimFile,
        // Else some of Node's files might be written past the C library.
        UV_USE_IO_URING: '0',
        DISK_SHIM_DIR: dir,
        DISK_SHIM_CONTROL: control.file,
        ...(options.keepsLog ? { DISK_SHIM_LOG: log } : {}),
      };
    },
    cutPower(random, { garbage, losesSince }) {
      const cut = replayDisk({ before, logs: read(), random, garbage, losesSince });
      for (const log of logs) rmSync(log, { force: true });
      logs = [];
      rmSync(dir, { recursive: true, force: true });
      mkdirSync(dir, { recursive: true });
      for (const [path, content] of cut.files) {
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, content, { mode: 0o600 });
      }
      before = cut.files;
      return cut;
    },
    events: () => read().reduce((sum, log) => sum + [...readShimLog(log)].length, 0),
    lookBack(random, { garbage, moment }) {
      const all = read();
      const events = all.flatMap((log) => [...readShimLog(log)]);
      const until = pickMoment(events, moment, random);
      const { files } = replayDisk({ before, logs: all, random, garbage, until });
      return { files, events: events.slice(0, until) };
    },
  };
}
