/**
 * A page of somebody's own that offers tools by the real client library, with its
 * journal in IndexedDB. What it sees and does is told to the test's server, which
 * no fault touches, before the page goes on: while it is held there, or frozen, or
 * ended, nothing more happens in it. `page-server.ts` serves it.
 */
import { createBrowserParts } from '#lib/client/browser-environment';
import type { ClientToolDefinition } from '#lib/client/client-tool';
import { createToolClient } from '#lib/client/tool-client';
import type { Told } from './page-server.ts';

const given = new URLSearchParams(location.search);
const name = given.get('name') ?? 'page';
const token = given.get('token') ?? '';
/**
 * Of so many calls the claims are kept from the server until all were asked for, and then their
 * grants from the library until all have come, as by a slow network.
 */
const heldCalls = Number(given.get('hold') ?? 0);
/** This life of the page. */
const life = crypto.randomUUID();

/** Synchronous on purpose: the page stands still until the test's server answers. */
function tell(point: Told['point'], details: Partial<Told> = {}): void {
  const request = new XMLHttpRequest();
  request.open('POST', '/told', false);
  try {
    request.send(JSON.stringify({ point, name, life, ...details }));
  } catch (error) {
    console.warn(`${point} could not be told: ${error}`);
  }
}

/** By call: what was sent last. */
const sent = new Map<string, unknown>();
const held: unknown[] = [];
const claims = new Map<string, string>();
let haveClaimed = false;
let isReleasing = false;
let instance = '';

class TappedSocket extends WebSocket {
  constructor(url: string, protocols: readonly string[]) {
    super(url, [...protocols]);
    // Before the library's own: it is told first.
    this.addEventListener('message', (event) => this.#tap(event));
  }

  override send(data: string): void {
    const message = JSON.parse(data);
    const { id: call } = message;
    if (message.type === 'hello') {
      instance = message.instance_id;
      tell('hello', { instance });
    }
    if (message.type === 'tool_call_claim') {
      tell('claiming', { call });
      if (this.#holdsClaim(call, data)) return;
    }
    if (message.type === 'tool_result') this.#answer(call, message.output);
    if (message.type === 'tool_error') this.#answer(call, { error: message.error });
    super.send(data);
  }

  /** The newest of each call: an older one would be refused. */
  #holdsClaim(call: string, data: string): boolean {
    if (haveClaimed || heldCalls === 0) return false;
    claims.set(call, data);
    if (claims.size < heldCalls) return true;
    haveClaimed = true;
    for (const claim of claims.values()) super.send(claim);
    return true;
  }

  #answer(call: string, answer: unknown): void {
    sent.set(call, answer);
    tell('answering', { call, answer });
  }

  #tap(event: MessageEvent<string>): void {
    if (isReleasing) return;
    const message = JSON.parse(event.data);
    const { id: call } = message;
    if (message.type === 'welcome') tell('welcome', { client: message.client_id, instance });
    if (message.type === 'tools_registered') tell('ready', { instance });
    if (message.type === 'tool_call_request') tell('requested', { call });
    if (message.type === 'tool_call_granted') this.#granted(event, call);
    if (message.type === 'result_acknowledged') {
      tell('acknowledged', { call, disposition: message.disposition, answer: sent.get(call) });
    }
    if (message.type === 'result_rejected') tell('rejected', { call });
  }

  #granted(event: MessageEvent<string>, call: string): void {
    if (held.length >= heldCalls) return tell('granted', { call });
    event.stopImmediatePropagation();
    held.push(event.data);
    if (held.length < heldCalls) return;
    tell('granted', { call });
    isReleasing = true;
    for (const data of held) this.dispatchEvent(new MessageEvent('message', { data }));
    isReleasing = false;
  }
}

const parameters = {
  type: 'object',
  properties: { nonce: { type: 'string' }, ms: { type: 'number' } },
};

const tool = (toolName: 'effect' | 'read', annotations = {}): ClientToolDefinition => ({
  name: toolName,
  description: `${toolName}s, and takes its time`,
  parameters,
  concurrency: 8,
  annotations,
  async run({ nonce, ms }, { callId }) {
    tell(toolName, { call: callId });
    await new Promise((resolve) => setTimeout(resolve, Number(ms ?? 0)));
    return { output: { call: callId, by: name, nonce } };
  },
});

const parts = createBrowserParts({ onProblem: (problem) => tell('problem', { problem }) });
const client = createToolClient({
  ...parts,
  environment: {
    ...parts.environment,
    openSocket: (url, protocols) => new TappedSocket(url, protocols),
  },
  url: given.get('socket') ?? '',
  protocols: ['callboard.v1', `bearer.${token}`],
  name,
  kind: 'tab',
  tools: [tool('effect'), tool('read', { readOnlyHint: true })],
  onProblem: (problem) => tell('problem', { problem }),
});
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) tell('restored', { instance });
});

await client.start();
