import type { Clock } from '../clock.ts';
import type { McpStream } from './mcp-service.ts';

/** Proxies close what is silent for a minute. */
const COMMENT_MS = 15_000;
/** One bridge opens four; of more than that the oldest is left over from a client that is gone. */
const MOST_OF_AN_AGENT = 8;

const CHANGED = `event: message\ndata: ${JSON.stringify({
  jsonrpc: '2.0',
  method: 'notifications/tools/list_changed',
})}\n\n`;

/** The streams of clients of the old protocol, by which they learn that tools changed (rule MP31). */
export class ListStreams {
  readonly #clock: Clock;
  readonly #byAgent = new Map<string, McpStream[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Sends a first comment at once: some clients wait for it. Returns a function that leaves it. */
  open(agentId: string, stream: McpStream): () => void {
    const streams = this.#byAgent.get(agentId) ?? [];
    this.#byAgent.set(agentId, streams);
    streams.push(stream);
    if (streams.length > MOST_OF_AN_AGENT) streams.shift()?.end();
    const comment = () => {
      stream.send(': open\n\n');
      cancel = this.#clock.schedule(COMMENT_MS, comment);
    };
    let cancel = (): void => {};
    comment();
    return () => {
      cancel();
      const at = streams.indexOf(stream);
      if (at >= 0) streams.splice(at, 1);
      // A stream that was ended may close after its agent has others.
      const isNewest = this.#byAgent.get(agentId) === streams;
      if (isNewest && streams.length === 0) this.#byAgent.delete(agentId);
    };
  }

  toolsChanged(): void {
    for (const stream of [...this.#byAgent.values()].flat()) stream.send(CHANGED);
  }

  close(): void {
    for (const stream of [...this.#byAgent.values()].flat()) stream.end();
  }
}
