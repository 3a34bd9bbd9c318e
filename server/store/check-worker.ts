/**
 * The process of `open-store.ts`: reads all of a database once, writes what is
 * wrong to its standard output, and ends. It holds nothing that is worth saving,
 * so that it can be killed at any moment.
 */
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { findProblem } from './integrity/check-store-file.ts';

const file = process.argv[2] ?? '';

if (isMainThread) {
  // Its standard input ends with the server, however that ends; the check blocks a thread of its own.
  process.stdin.on('end', () => process.kill(process.pid, 'SIGKILL')).resume();
  const check = new Worker(fileURLToPath(import.meta.url), { argv: [file] });
  check.once('message', (answer: string) => process.stdout.write(answer, () => process.exit(0)));
} else {
  parentPort?.postMessage(JSON.stringify({ problem: findProblem(file) ?? null }));
}
