import { spawn } from 'node:child_process';
import { type QueryReply, type QueryRequest, queryReplySchema } from './query-message.ts';

/** The answer's rows, and as much again for escapes, names and brackets. */
const OUTPUT_SLACK = 2;
const MAX_HEAP_MB = 128;

export type QueryOutcome =
  | { readonly kind: 'reply'; readonly reply: QueryReply }
  | { readonly kind: 'aborted' }
  /** It ended without an answer: killed for its memory, or it could not start. */
  | { readonly kind: 'died'; readonly reason: string };

/**
 * Runs one query in a process of its own, with an environment of its own. The signal kills
 * it. Resolves when the process has ended, so that none is ever left behind.
 */
export function runQueryProcess(
  { workerPath, signal }: { workerPath: string; signal: AbortSignal },
  request: QueryRequest,
): Promise<QueryOutcome> {
  const child = spawn(
    process.execPath,
    [`--max-old-space-size=${MAX_HEAP_MB}`, '--disable-warning=ExperimentalWarning', workerPath],
    { env: { NODE_ENV: 'production' }, stdio: ['pipe', 'pipe', 'ignore'] },
  );
  const chunks: Buffer[] = [];
  let size = 0;
  let failure: string | undefined;
  const kill = () => child.kill('SIGKILL');
  signal.addEventListener('abort', kill, { once: true });
  if (signal.aborted) kill();

  child.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length;
    chunks.push(chunk);
    if (size > request.maxBytes * OUTPUT_SLACK) kill();
  });
  // It may end before it has read its request; the exit is the reason.
  child.stdin.on('error', (error) => {
    failure ??= error.message;
  });
  child.stdin.end(JSON.stringify(request));

  return new Promise((resolve) => {
    child.on('error', (error) => {
      failure = error.message;
    });
    child.on('close', (code, killedBy) => {
      signal.removeEventListener('abort', kill);
      if (signal.aborted) return resolve({ kind: 'aborted' });
      const reply = code === 0 ? readReply(Buffer.concat(chunks).toString('utf8')) : undefined;
      if (reply) return resolve({ kind: 'reply', reply });
      resolve({ kind: 'died', reason: killedBy ?? failure ?? `exit code ${code}` });
    });
  });
}

function readReply(text: string): QueryReply | undefined {
  try {
    return queryReplySchema.safeParse(JSON.parse(text)).data;
  } catch {
    // Cut off in the middle: the process ended badly, which the caller reports.
    return undefined;
  }
}
