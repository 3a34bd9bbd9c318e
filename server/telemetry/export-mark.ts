import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { isMissing } from '#lib/util/is-missing';
import type { Logger } from '../base/logger.ts';

/** Between a call's end, as it has it, and the moment at which that is on disk: a slow disk included. */
const ON_DISK_MS = 10_000;
/** Ids in the file. Spans of calls beyond are sent twice after a crash, under the same ids. */
const MOST_IDS = 2_048;

/** A call that has ended, and when: milliseconds since the epoch. */
export interface Ended {
  readonly id: string;
  readonly endedAt: number;
}

/** `before`: of calls that ended earlier nothing is left to send. Of later ones, `sent`. */
const markSchema = z.object({
  before: z.number(),
  sent: z.array(z.object({ id: z.string(), endedAt: z.number() })).max(MOST_IDS),
});
type Mark = z.infer<typeof markSchema>;

interface MarkDeps {
  readonly file: string;
  readonly now: () => number;
  readonly logger: Logger;
}

/**
 * A file that names the calls whose spans need no sending any more, so that those of the others
 * are sent after a crash (rules TM34 to TM37). Written once for a batch of spans, and not flushed:
 * with an older mark spans are sent twice, under the same ids.
 */
export class ExportMark {
  readonly #deps: MarkDeps;
  readonly #open = new Map<string, number>();
  #sent: Ended[] = [];
  #writing: Promise<void> | undefined;
  #isStale = false;

  constructor(deps: MarkDeps) {
    this.#deps = deps;
  }

  /** What the server before left. Undefined: there is none, it cannot be read, or it makes no sense. */
  async read(): Promise<Mark | undefined> {
    const text = await readFile(this.#deps.file, 'utf8').catch((error: unknown) => {
      if (!isMissing(error)) this.#deps.logger.error(error);
      return '';
    });
    const mark = parseMark(text);
    this.#sent = mark?.sent ?? [];
    return mark;
  }

  /** There is something of it to send. */
  opened({ id, endedAt }: Ended): void {
    this.#open.set(id, endedAt);
  }

  /** The receiver has what was to send of it, or will never have it. */
  settled(id: string): void {
    const endedAt = this.#open.get(id);
    if (endedAt === undefined) return;
    this.#open.delete(id);
    this.#sent.push({ id, endedAt });
  }

  /** Resolves when all that was settled before is in the file. */
  save(): Promise<void> {
    this.#isStale = true;
    this.#writing ??= this.#write()
      .catch(this.#deps.logger.error)
      .finally(() => {
        this.#writing = undefined;
      });
    return this.#writing;
  }

  async #write(): Promise<void> {
    const { file } = this.#deps;
    while (this.#isStale) {
      this.#isStale = false;
      await writeFile(`${file}.tmp`, JSON.stringify(this.#state()), { mode: 0o600 });
      await rename(`${file}.tmp`, file);
    }
  }

  #state(): Mark {
    let before = this.#deps.now() - ON_DISK_MS;
    for (const endedAt of this.#open.values()) before = Math.min(before, endedAt);
    this.#sent = this.#sent.filter(({ endedAt }) => endedAt >= before).slice(-MOST_IDS);
    return { before, sent: this.#sent };
  }
}

/** Where nothing is exported, so that calls of that time never are. */
export const removeMark = (file: string, logger: Logger): Promise<void> =>
  rm(file, { force: true }).catch(logger.error);

function parseMark(text: string): Mark | undefined {
  try {
    return markSchema.safeParse(JSON.parse(text)).data;
  } catch {
    // A file that was cut short is as none: nothing is sent again.
    return undefined;
  }
}
