import { readdirSync, watch } from 'node:fs';
import { join } from 'node:path';

/** Editors and version control write several files at once, and one file in several steps. */
const SETTLE_MS = 200;

/**
 * Calls `onChange` once when a source of the server changes; returns its undo.
 *
 * Not `node --watch`: Next reads what it has just compiled with `require`, which counts there as a
 * source, and each first look at a page would start the server anew.
 *
 * @param {string} root
 * @param {(file: string) => void} onChange
 * @returns {() => void}
 */
export function watchSources(root, onChange) {
  let timer = /** @type {NodeJS.Timeout | undefined} */ (undefined);
  /** @param {unknown} _event @param {string | null} file */
  const changed = (_event, file) => {
    if (file === null || !isServerSource(file)) return;
    timer ??= setTimeout(() => {
      stop();
      onChange(file);
    }, SETTLE_MS);
  };
  const watchers = foldersToWatch(root).map(({ path, recursive }) =>
    watch(path, { recursive }, changed),
  );
  const stop = () => {
    clearTimeout(timer);
    for (const watcher of watchers) watcher.close();
  };
  return stop;
}

/** @param {string} file */
export const isServerSource = (file) => /\.(ts|json)$/.test(file) && !/\.test\.ts$/.test(file);

/** The launcher's own folder stays out: it holds a whole Node. @param {string} root */
function foldersToWatch(root) {
  const server = join(root, 'server');
  const parts = readdirSync(server, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== 'bootstrap')
    .map((entry) => join(server, entry.name));
  return [
    { path: server, recursive: false },
    ...[...parts, join(root, 'lib')].map((path) => ({ path, recursive: true })),
  ];
}
