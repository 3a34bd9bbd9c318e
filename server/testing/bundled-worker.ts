import { join } from 'node:path';

/** Where `bundle-workers.ts` puts them: inside the project, where they find its packages. */
export const BUNDLED_WORKERS = join(
  import.meta.dirname,
  '../../node_modules/.cache/callboard-workers',
);

/** A thread or process of the server as it is built, by the name of its file there. */
export const bundledWorker = (file: string) => join(BUNDLED_WORKERS, file);
