/** The thread of `later-check.ts`: reads all of a database once, and gives what is wrong. */
import { parentPort, workerData } from 'node:worker_threads';
import { findProblem } from './integrity/check-store-file.ts';

const { file } = workerData as { file: string };
parentPort?.postMessage(findProblem(file));
