import { readdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { bundleClient } from './build-client.mjs';
import { bundleDevice } from './build-device.mjs';
import { ROOT, say } from './project.mjs';
import { runChild, watchAncestors } from './run-child.mjs';
import { QUIET_NODE } from './run-server.mjs';

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

/**
 * Runs the server from its sources, anew after each change of one of them; Next, inside it, reloads
 * the pages by itself. The client library for other pages and the device page are built once, before. A server that fell over waits for the change that mends it.
 *
 * @param {import('./project.mjs').Setup} setup
 * @returns {Promise<number>} the exit code
 */
export async function runDevelopmentServer({ node, env }) {
  await bundleClient();
  await bundleDevice();
  for (;;) {
    const change = new AbortController();
    const unwatch = watchSources(ROOT, (file) => {
      say(`${file} changed, starting anew …`);
      change.abort();
    });
    const { code, told } = await runChild({
      command: node,
      args: [QUIET_NODE, join(ROOT, 'server', 'main', 'main.ts')],
      env: { ...env, NODE_ENV: 'development', CALLBOARD_DEV: '1' },
      cwd: ROOT,
      output: 'channel',
      stopOn: change.signal,
    });
    if (!change.signal.aborted && !told && code !== 0) {
      say(`the server ended with ${code}; waiting for a change …`);
      await abortedOrAlone(change.signal);
    }
    if (told || !change.signal.aborted) {
      unwatch();
      return code;
    }
  }
}

/** @param {AbortSignal} signal @returns {Promise<void>} */
function abortedOrAlone(signal) {
  return new Promise((resolve) => {
    const unwatch = watchAncestors(resolve);
    signal.addEventListener('abort', () => {
      unwatch();
      resolve();
    });
  });
}
