import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import { parseJson } from '#lib/json/parse-json';
import { defineTool, type ToolContext, ToolError } from '../define-tool.ts';
import { type CodeReply, type CodeRequest, codeReplySchema } from './run-code-message.ts';

const TIMEOUT_MS = 10_000;
const RUN_MS = 5_000;
const MEMORY_BYTES = 64 * 1024 * 1024;
const MAX_RESULT_CHARS = 256 * 1024;
const MAX_RESULT = { maxDepth: 64, maxNodes: 50_000 };
const MAX_LOG_CHARS = 16 * 1024;
const MAX_CODE_CHARS = 64 * 1024;
const MAX_TIP_CHARS = 200;
/** The thread needs this much beside QuickJS, whose memory is its own. */
const THREAD_LIMITS = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 };

export interface RunCodeDeps {
  /** `run-code-worker`, built or source. */
  readonly workerPath: string;
  /** The program may run so long; the call may take `timeoutMs` with waiting and starting. */
  readonly runMs?: number;
  readonly timeoutMs?: number;
}

/** `run_code`: JavaScript in QuickJS, in a thread that is ended at the limit; it reaches nothing. */
export function createRunCode({ workerPath, runMs = RUN_MS, timeoutMs = TIMEOUT_MS }: RunCodeDeps) {
  return defineTool({
    name: 'run_code',
    displayName: 'Code',
    description: `Runs JavaScript (the body of an async function; "return" gives the result, any JSON; "input" is what was given) and returns {result, console}. No files, network, timers, modules or other tools; ${MEMORY_BYTES / 1024 / 1024} MB and ${runMs} ms.`,
    args: z.object({
      code: z.string().min(1).max(MAX_CODE_CHARS).describe('e.g. "return input.a * 2"'),
      input: z.unknown().optional().describe('Any JSON, as the variable "input"'),
    }),
    effect: 'read',
    timeoutMs,
    // Each may take its memory, and some for itself.
    concurrency: 2,
    run: async ({ code, input = null }, { signal, status }) => {
      status({ tip: 'Running a program' });
      const request: CodeRequest = {
        code,
        input: JSON.stringify(input),
        memoryBytes: MEMORY_BYTES,
        runMs,
        maxLogChars: MAX_LOG_CHARS,
        maxResultChars: MAX_RESULT_CHARS,
      };
      const within = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      return { output: await runInThread(request, { workerPath, signal: within, status }) };
    },
  });
}

interface ThreadDeps {
  readonly workerPath: string;
  readonly signal: AbortSignal;
  readonly status: ToolContext['status'];
}

type Ending = Exclude<CodeReply, { type: 'log' }>;

/** Resolves or rejects once the thread is gone, so that none is ever left behind. */
async function runInThread(request: CodeRequest, { workerPath, signal, status }: ThreadDeps) {
  const worker = new Worker(workerPath, {
    workerData: request,
    env: {},
    resourceLimits: THREAD_LIMITS,
    // Its prints are not for the server's log.
    stdout: true,
    stderr: true,
  });
  const lines: string[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<Ending>();
  worker.on('message', (message: unknown) => {
    const reply = codeReplySchema.safeParse(message);
    if (!reply.success) return reject(reply.error);
    if (reply.data.type !== 'log') return resolve(reply.data);
    lines.push(...reply.data.lines);
    const tip = (lines.at(-1) ?? '').slice(0, MAX_TIP_CHARS);
    status({ tip, preview: { console: lines.join('\n') } });
  });
  worker.on('error', (error: unknown) => reject(threadFailure(error)));
  worker.on('exit', () => reject(new ToolError('The program ended without a result.')));
  const stop = () =>
    reject(new ToolError('The program was stopped before it ended; make it do less.'));
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    const { type, text } = await promise;
    const shown = lines.length === 0 ? [] : ['console:', ...lines];
    if (type === 'error') throw new ToolError([text, ...shown].join('\n'));
    return { result: toJson(text), console: lines };
  } finally {
    signal.removeEventListener('abort', stop);
    await worker.terminate();
  }
}

function toJson(text: string): unknown {
  const parsed = parseJson(text, MAX_RESULT);
  if (parsed.ok) return parsed.value;
  throw new ToolError(`The result cannot be given: ${parsed.message}`);
}

/** The thread is out of memory, which is the program's doing; all else is a defect. */
const threadFailure = (error: unknown): unknown =>
  error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? new ToolError('The program took too much memory; make it hold less at once.')
    : error;
