/**
 * The process of one `database.query`: reads the request on its standard input,
 * answers on its standard output, and ends. It holds nothing that is worth
 * saving, so that it can be killed at any moment.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { queryRequestSchema } from './query-message.ts';
import { runQuery } from './run-query.ts';

/** Past the tool's timeout, so that it only counts when the server has ended without killing us. */
const LONGEST_LIFE_MS = 15_000;
/** A bare process takes some 60 MB. */
const MOST_MEMORY_BYTES = 384 * 1024 * 1024;

/** Runs beside the query, which blocks its own thread, and ends the process from within. */
const WATCHDOG = `
  const end = () => process.kill(process.pid, 'SIGKILL');
  setTimeout(end, ${LONGEST_LIFE_MS});
  setInterval(() => process.memoryUsage.rss() > ${MOST_MEMORY_BYTES} && end(), 20);
`;

async function readInput(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

const watchdog = new Worker(WATCHDOG, { eval: true });
// It has to be awake before the query takes this thread.
const awake = once(watchdog, 'online');
const request = queryRequestSchema.parse(JSON.parse(await readInput()));
await awake;
const reply = JSON.stringify(runQuery(request));
await new Promise((resolve) => process.stdout.write(reply, resolve));
await watchdog.terminate();
