import { pathToFileURL } from 'node:url';
import { bundledWorker } from './bundled-worker.ts';

/** In the place of `store/thread-source.ts`, by the configuration of the tests. */
export const threadSource = (name: string) => pathToFileURL(bundledWorker(`${name}.mjs`));
