import { createHash, hash } from 'node:crypto';
import { type BigIntStats, constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { resolve, sep } from 'node:path';
import { z } from 'zod';
import { defineTool, type Operand, refusal } from '../define-tool.ts';
import type { Origins } from './file-tools.ts';
import { type EndedProgram, type Isolation, OUTPUT_BYTES, runProgram } from './run-program.ts';

/** So much is read of one file, and of all files of one call; of others the state is bound. */
const FILE_BYTES = 16 * 1024 * 1024;
const ALL_BYTES = 64 * 1024 * 1024;
/** No path that the system takes is longer. */
const PATH_CHARS = 4_096;
const CHUNK_BYTES = 256 * 1024;

/**
 * The regular files that the arguments of a program name: those of the workspace, `root`, and the
 * program where it is given by its path. What a link leads to is what the program would open, and
 * counts as the file of that name.
 */
export async function namedFiles(
  root: string,
  argv: readonly string[],
  signal: AbortSignal,
): Promise<Operand[]> {
  const found: Operand[] = [];
  let left = ALL_BYTES;
  for (const [at, text] of argv.entries()) {
    for (const name of at === 0 ? [text].filter(hasFolder) : namesIn(text)) {
      signal.throwIfAborted();
      const path = resolve(root, name);
      if (name.length > PATH_CHARS || (at > 0 && !path.startsWith(root + sep))) continue;
      const file = await lookAt(path, Math.min(left, FILE_BYTES), signal);
      if (file === undefined) continue;
      left -= file.bytesRead;
      found.push({ path: `/argv/${at}`, name, ...file.is });
    }
  }
  return found;
}

/** Without a folder it is looked for in PATH. */
const hasFolder = (program: string): boolean => program.includes('/');

/** `run.mjs`, `--config=run.json`, `if=disk.img`, `@arguments.txt`. */
function namesIn(text: string): string[] {
  const equals = text.indexOf('=');
  const forms = equals < 0 ? [text] : [text, text.slice(equals + 1)];
  return forms.flatMap((form) => (form.startsWith('@') ? [form, form.slice(1)] : [form]));
}

interface LookedAt {
  readonly is: Pick<Operand, 'hash' | 'contentHash'>;
  readonly bytesRead: number;
}

/** Undefined for what is no regular file. */
async function lookAt(
  path: string,
  mostBytes: number,
  signal: AbortSignal,
): Promise<LookedAt | undefined> {
  // Whatever keeps a file from being looked at: when that is otherwise later, the file has changed.
  const stats = await stat(path, { bigint: true }).catch(() => undefined);
  if (!stats?.isFile()) return undefined;
  const read = stats.size <= mostBytes ? await readHash(path, mostBytes, signal) : undefined;
  if (!read) return { is: { hash: stateOf(stats) }, bytesRead: 0 };
  const { contentHash, bytesRead } = read;
  return { is: { hash: `sha256:${contentHash}`, contentHash }, bytesRead };
}

/** Any write, and any other file under the name, has another. */
const stateOf = ({ size, ino, mtimeNs, ctimeNs }: BigIntStats): string =>
  `state:${hash('sha256', [size, ino, mtimeNs, ctimeNs].join(' '))}`;

/** Undefined where it may not be read, or has more bytes by now. */
async function readHash(path: string, mostBytes: number, signal: AbortSignal) {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => undefined);
  if (!file) return undefined;
  try {
    const digest = createHash('sha256');
    const buffer = Buffer.alloc(CHUNK_BYTES);
    let total = 0;
    for (;;) {
      signal.throwIfAborted();
      const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES);
      if (bytesRead === 0) return { contentHash: digest.digest('hex'), bytesRead: total };
      total += bytesRead;
      if (total > mostBytes) return undefined;
      digest.update(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}

const SHOWN_CHARS = 2_000;
const SHOW_EVERY_MS = 250;

/** `shell`: one program with its arguments, in the workspace. No shell reads them. */
export function createShell(options: {
  /** Its real path. */
  readonly root: string;
  /** All that the program is given of the environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly isolation?: Isolation | undefined;
  readonly origins?: Origins | undefined;
}) {
  const { root, env, timeoutMs, isolation, origins } = options;
  return defineTool({
    name: 'shell',
    displayName: 'Shell',
    description: `Runs a program in the workspace. argv is the program and its arguments, given to it as they are: no shell reads them, so that quotes, $, |, >, ; and * mean nothing; for those run ["sh", "-c", "…"]. It has no input, ${timeoutMs / 1_000} s, and is ended with all that it started. Returns {exit_code, signal, stdout, stderr, truncated?}; of its output the first ${OUTPUT_BYTES} bytes are kept.`,
    args: z.object({
      argv: z
        .array(
          z
            .string()
            .max(32_768)
            .refine((text) => !text.includes('\0'), 'has a NUL'),
        )
        .min(1)
        .max(256)
        .describe('e.g. ["git", "log", "--oneline", "-5"]'),
    }),
    effect: 'write',
    annotations: { destructiveHint: true, openWorldHint: true },
    neverAlways: true,
    timeoutMs,
    concurrency: 2,
    operands: ({ argv }, signal) => namedFiles(root, argv, signal),
    async run({ argv }, { signal, status, runId, principal }) {
      // It may fetch and write what others wrote, all by itself.
      const by = origins && ((await origins.othersRead({ runId, principal })) ?? 'shell');
      await origins?.files.wroteAnywhere(by ?? null);
      const [program = '', ...args] = argv;
      status({ tip: `Running ${program}` });
      let shownAt = Number.NEGATIVE_INFINITY;
      const onOutput = (tail: string) => {
        if (performance.now() - shownAt < SHOW_EVERY_MS) return;
        shownAt = performance.now();
        status({ preview: tail });
      };
      const ended = await runProgram({
        program,
        args,
        cwd: root,
        env,
        isolation,
        signal,
        onOutput,
        tailChars: SHOWN_CHARS,
      });
      if (ended.kind === 'not_started') {
        throw refusal(`${program} could not be started: ${ended.reason}`);
      }
      return { output: outputOf(ended) };
    },
  });
}

function outputOf({
  exitCode,
  endedBy,
  stdout,
  stderr,
  isCut,
}: Extract<EndedProgram, { kind: 'ended' }>) {
  const truncated = `The output was longer; only its first ${OUTPUT_BYTES} bytes are here.`;
  const output = { exit_code: exitCode, signal: endedBy, stdout, stderr };
  return isCut ? { ...output, truncated } : output;
}
