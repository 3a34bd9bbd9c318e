import { join } from 'node:path';
import { bundleClient } from './build-client.mjs';
import { bundleDevice } from './build-device.mjs';
import { ROOT, say } from './project.mjs';
import { runChild } from './run-child.mjs';
import { QUIET_NODE } from './run-server.mjs';
import { watchAncestors } from './watch-ancestors.mjs';
import { watchSources } from './watch-sources.mjs';

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
      args: [QUIET_NODE, join(ROOT, 'server', 'main.ts')],
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
