/** One thing that a process did to the files of its directory, as `shim.c` wrote it down. */
export type DiskEvent =
  | {
      readonly op: 'open';
      readonly id: number;
      readonly path: string;
      readonly isNew: boolean;
      readonly truncates: boolean;
      readonly isDir: boolean;
    }
  | { readonly op: 'write'; readonly id: number; readonly offset: number; readonly data: Buffer }
  | { readonly op: 'truncate'; readonly id: number; readonly length: number }
  | { readonly op: 'sync-begin' | 'sync-end'; readonly id: number }
  | { readonly op: 'rename'; readonly path: string; readonly to: string }
  | { readonly op: 'unlink'; readonly path: string };

const HEAD_BYTES = 24;

/** The last one may be cut off: the process was killed while it wrote it. */
export function* readShimLog(log: Buffer): Generator<DiskEvent> {
  for (let at = 0; at + HEAD_BYTES <= log.length; ) {
    const op = String.fromCharCode(log.readUInt8(at));
    const flags = log.readUInt8(at + 1);
    const id = log.readUInt32LE(at + 4);
    const offset = Number(log.readBigInt64LE(at + 8));
    const lengths = [
      log.readUInt16LE(at + 2),
      log.readUInt32LE(at + 20),
      log.readUInt32LE(at + 16),
    ];
    const [pathLength = 0, toLength = 0, dataLength = 0] = lengths;
    const [path, to] = [at + HEAD_BYTES, at + HEAD_BYTES + pathLength];
    const data = to + toLength;
    at = data + dataLength;
    if (at > log.length) return;
    const text = (from: number, until: number) => log.subarray(from, until).toString();
    switch (op) {
      case 'O':
        yield {
          op: 'open',
          id,
          path: text(path, to),
          isNew: (flags & 1) !== 0,
          truncates: (flags & 2) !== 0,
          isDir: (flags & 4) !== 0,
        };
        break;
      case 'W':
        yield { op: 'write', id, offset, data: log.subarray(data, at) };
        break;
      case 'T':
        yield { op: 'truncate', id, length: offset };
        break;
      case 'B':
        yield { op: 'sync-begin', id };
        break;
      case 'E':
        yield { op: 'sync-end', id };
        break;
      case 'R':
        yield { op: 'rename', path: text(path, to), to: text(to, data) };
        break;
      case 'U':
        yield { op: 'unlink', path: text(path, to) };
        break;
      default:
        throw new Error(`the log of the disk has "${op}" at ${at}, which is no event`);
    }
  }
}
