import { createBrowserParts } from '../../client/browser-environment.ts';
import { createToolClient } from '../../client/tool-client.ts';
import { createBrowserTools } from '../browser-tools.ts';
import { createBrowserEnv } from '../create-browser-env.ts';
import type { DevicePrompts } from '../device-prompts.ts';
import { watchClientState } from '../watch-client-state.ts';

/** Asks with two buttons in the page. */
const prompts: DevicePrompts = {
  ask({ message, signal }) {
    const banner = document.createElement('dialog');
    banner.textContent = message;
    return new Promise((resolve) => {
      for (const answer of ['allowed', 'denied'] as const) {
        const button = document.createElement('button');
        button.textContent = answer;
        button.onclick = () => {
          banner.remove();
          resolve(answer);
        };
        banner.append(button);
      }
      signal.addEventListener('abort', () => banner.remove());
      document.body.append(banner);
      banner.show();
    });
  },
};

/** Every track that a tool has opened, to see whether it is stopped. */
const tracks: MediaStreamTrack[] = [];

const toolsRig = {
  tracks: () => tracks.map(({ readyState }) => readyState),
  endTracks() {
    for (const track of tracks) track.stop();
  },
  async start(url: string) {
    const env = createBrowserEnv();
    const { camera, display } = env;
    const keep = (stream: MediaStream) => {
      tracks.push(...stream.getTracks());
      return stream;
    };
    const watched = {
      ...env,
      camera: camera && {
        open: async (constraints: { facing: 'user' | 'environment' }) =>
          keep(await camera.open(constraints)),
      },
      display: display && { open: async () => keep(await display.open()) },
    };
    const client = createToolClient({
      url,
      name: 'page',
      kind: 'tab',
      ...createBrowserParts({ onProblem: console.error }),
      tools: createBrowserTools(watched, prompts),
    });
    watchClientState({ env, toolNames: client.toolNames, report: client.reportState });
    env.onTouch(client.reportTouch);
    await client.start();
  },
};
Object.assign(window, { rig: toolsRig, toolsRig });

declare global {
  interface Window {
    toolsRig: typeof toolsRig;
  }
}
