import { createBrowserParts } from '../../client/browser-environment.ts';
import { createToolClient } from '../../client/tool-client.ts';
import type { DevicePrompts, Facing, PersonAnswer } from '../browser-env.ts';
import { createBrowserTools } from '../browser-tools.ts';
import { createBrowserEnv } from '../create-browser-env.ts';
import { watchClientState } from '../watch-client-state.ts';

/** Asks with two buttons in the page; a question with those that it brings. */
const prompts: DevicePrompts = {
  ask({ message, detail, signal, onAllow }) {
    return banner(`${message} ${detail ?? ''}`, signal, (add, resolve) => {
      add('allowed', () => {
        onAllow?.();
        // Later than the click: what is begun after the answer is begun outside it.
        setTimeout(() => resolve('allowed'));
      });
      add('denied', () => resolve('denied'));
    });
  },
  show({ title, text, buttons, signal }) {
    return banner<PersonAnswer>(`${title} ${text}`, signal, (add, resolve) => {
      const field = document.createElement('input');
      document.querySelector('dialog')?.append(field);
      for (const [button, label] of buttons.entries())
        add(label, () => resolve({ button, text: field.value }));
      add('close', () => resolve('closed'));
    });
  },
};

function banner<T>(
  message: string,
  signal: AbortSignal,
  fill: (add: (label: string, act: () => void) => void, resolve: (answer: T) => void) => void,
): Promise<T> {
  const dialog = document.createElement('dialog');
  dialog.textContent = message;
  document.body.append(dialog);
  return new Promise((resolve) => {
    fill((label, act) => {
      const button = document.createElement('button');
      button.textContent = label;
      button.onclick = () => {
        dialog.remove();
        act();
      };
      dialog.append(button);
    }, resolve);
    signal.addEventListener('abort', () => dialog.remove());
    dialog.show();
  });
}

/** Every track that a tool has opened, to see whether it is stopped. */
const tracks: MediaStreamTrack[] = [];

const toolsRig = {
  tracks: () => tracks.map(({ readyState }) => readyState),
  endTracks() {
    for (const track of tracks) track.stop();
  },
  async start(url: string) {
    const env = createBrowserEnv();
    const { camera, display, microphone } = env;
    const keep = (stream: MediaStream) => {
      tracks.push(...stream.getTracks());
      return stream;
    };
    const watched = {
      ...env,
      camera: camera && {
        open: async (constraints: { facing: Facing; width?: number }) =>
          keep(await camera.open(constraints)),
      },
      microphone: microphone && {
        ...microphone,
        open: async () => keep(await microphone.open()),
      },
      display: display && { ...display, open: async () => keep(await display.open()) },
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
