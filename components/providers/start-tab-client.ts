import { createBrowserTools, PHONE_TOOLS } from '#lib/browser-tools/browser-tools';
import { createBrowserEnv } from '#lib/browser-tools/create-browser-env';
import { watchClientState } from '#lib/browser-tools/watch-client-state';
import { createBrowserParts } from '#lib/client/browser-environment';
import { createHttpUploadBlob } from '#lib/client/encode-answer';
import { createToolClient, type ToolClient } from '#lib/client/tool-client';
import { readUserAgent } from '#lib/format/read-user-agent';
import type { TabState } from '#lib/stores/tab-store';
import { pageFetch, pageProtocols } from './page-session.ts';
import { socketUrl } from './socket-url.ts';
import type { Workbench } from './workbench-context.tsx';

/** Makes this tab a client of the server that served it, as the person who is signed in. */
export function startTabClient({ api, tab, prompts }: Workbench): () => void {
  const onProblem = (message: string) => console.warn(`tab client: ${message}`);
  const env = createBrowserEnv();
  const client = createToolClient({
    ...createBrowserParts({ onProblem, protocols: pageProtocols }),
    url: socketUrl('/ws/client', location),
    name: tabName(navigator),
    kind: 'tab',
    tools: createBrowserTools(env, prompts.getState()).filter(({ name }) => !PHONE_TOOLS.has(name)),
    uploadBlob: createHttpUploadBlob({ baseUrl: '', fetch: pageFetch }),
    isRefused: async () => {
      const answer = await api.listModels();
      return !answer.ok && answer.status === 401;
    },
    onRejectedTools: (rejected) => {
      for (const { name, message } of rejected) onProblem(`${name} was not taken: ${message}`);
    },
    onProblem,
  });
  tab.setState({ tools: client.toolNames, retryNow: client.retryNow });
  // With the ids: a further tab of a browser knows its client's before it connects, and it never changes.
  const showStatus = () =>
    tab.setState({
      status: tabStatus(client),
      clientId: client.clientId.get(),
      instanceId: client.instanceId,
    });
  const ends = [
    client.status.subscribe(showStatus),
    client.registered.subscribe(showStatus),
    client.clientId.subscribe(showStatus),
    watchClientState({ env, toolNames: client.toolNames, report: client.reportState }),
    env.onTouch(client.reportTouch),
  ];
  client.start().catch((error: unknown) => {
    tab.setState({ status: 'disconnected' });
    onProblem(String(error));
  });
  return () => {
    for (const end of ends) end();
    client.stop().catch((error: unknown) => onProblem(String(error)));
  };
}

function tabStatus({ status, registered }: ToolClient): TabState['status'] {
  const { state } = status.get();
  if (state !== 'connected' && state !== 'connecting') return 'disconnected';
  return registered.get() ? 'registered' : 'connecting';
}

/** A name by which a person tells this browser from others, e.g. `Mac · Chrome`. */
function tabName({ userAgent }: { userAgent: string }): string {
  const { browser = 'Browser', system } = readUserAgent(userAgent);
  return [system, browser].filter(Boolean).join(' · ');
}
