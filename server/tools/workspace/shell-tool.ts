import { z } from 'zod';
import { defineTool, ToolError } from '../define-tool.ts';
import type { Origins } from './file-tools.ts';
import { namedFiles } from './named-files.ts';
import { type EndedProgram, OUTPUT_BYTES, runProgram } from './run-program.ts';
import type { Isolation } from './start-program.ts';

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
        ...{ program, args, cwd: root, env, isolation, signal, onOutput },
        tailChars: SHOWN_CHARS,
      });
      if (ended.kind === 'not_started') {
        throw new ToolError(`${program} could not be started: ${ended.reason}`, { executed: 'no' });
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
