import { pathToFileURL } from 'node:url';
import type { Build } from '../build-variant.ts';

export type ClientLibrary = typeof import('./client-library.ts');

/** The client library of this very build, to be run in the harness's own process. */
export const loadLibrary = (build: Build): Promise<ClientLibrary> =>
  import(pathToFileURL(build.libraryFile).href);
