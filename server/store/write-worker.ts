/** The thread of `write-thread.ts`: one connection that writes and does nothing else. */
import { parentPort, workerData } from 'node:worker_threads';
import { createCollector } from '../base/collect-garbage.ts';
import type { Applied } from './apply-log.ts';
import { openWriteConnection } from './write-connection.ts';
import type { ThreadAnswer, ThreadRequest } from './write-thread.ts';

const { file } = workerData as { file: string };
const connection = openWriteConnection(file);
/** A commit applies nothing. */
const NOTHING: Applied = { upTo: 0, more: false };
const collector = createCollector();
/** When the request is not in use any more. */
const collectLater = (chars: number) => {
  if (chars > 0) setImmediate(() => collector.used(chars));
};

function attempt(work: () => Applied | undefined): ThreadAnswer {
  try {
    return { ok: true, applied: work() ?? NOTHING };
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error) };
  }
}

parentPort?.on('message', (request: ThreadRequest) => {
  switch (request.type) {
    case 'prepare':
      connection.prepare(request.statement, request.sql, request.sums);
      return;
    case 'commit':
      // fault point: commit-asked
      parentPort?.postMessage(attempt(() => void connection.commit(request, request.position)));
      collectLater(request.longTexts.reduce((sum, { length }) => sum + length, 0));
      return;
    case 'apply':
      parentPort?.postMessage(attempt(connection.apply));
      return;
    case 'close':
      connection.close();
      parentPort?.close();
  }
});
