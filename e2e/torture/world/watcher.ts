import { type WatchEvent, watchServerMessageSchema } from '#lib/protocol/watch-messages';
import type { Violation } from '../scenario.ts';

/** Someone who looks at `/ws/watch` all the time, and comes back with the last number. */
export interface Watcher {
  /** Calls that it was shown, with the last card status of each. */
  readonly shown: ReadonlyMap<string, string>;
  readonly violations: readonly Violation[];
  /** Ids of calls as they are told first. */
  onNewCall: (id: string) => void;
  stop(): void;
}

const RETRY_MS = 30;

export function watch(url: string, token: string): Watcher {
  const shown = new Map<string, string>();
  const violations: Violation[] = [];
  let since: number | undefined;
  let isStopped = false;
  let socket: WebSocket | undefined;

  function connect(): void {
    if (isStopped) return;
    const current = new WebSocket(url, ['callboard.v1', `bearer.${token}`]);
    socket = current;
    current.addEventListener('open', () =>
      current.send(JSON.stringify({ type: 'watch', ...(since === undefined ? {} : { since }) })),
    );
    current.addEventListener('message', ({ data }) => take(JSON.parse(String(data))));
    current.addEventListener('error', () => {});
    current.addEventListener('close', () => setTimeout(connect, RETRY_MS));
  }

  function take(told: unknown): void {
    const parsed = watchServerMessageSchema.safeParse(told);
    if (!parsed.success) {
      const detail = `watchers were told what is not of the protocol: ${JSON.stringify(told).slice(0, 300)}`;
      violations.push({ invariant: 'HEALTH', detail });
      return;
    }
    const message = parsed.data;
    if (message.type === 'error' || message.type === 'ended') return;
    if (message.type === 'snapshot') {
      since = message.seq;
      for (const { tool_call_id: id, card } of message.calls) note(id, card.status);
      return;
    }
    // The server merges what a slow watcher missed (contract, section 8); one update alone skips nothing.
    if (message.type === 'batch') for (const event of message.events) takeEvent(event, false);
    else takeEvent(message, true);
  }

  function takeEvent(event: WatchEvent, isAlone: boolean): void {
    if (isAlone && since !== undefined && event.seq !== since + 1) {
      const detail = `event ${event.seq} came after ${since}, with no snapshot between`;
      violations.push({ invariant: 'I9', detail });
    }
    since = event.seq;
    if (event.type !== 'call') return;
    if (!shown.has(event.tool_call_id)) {
      if (event.update.tool_name === undefined && !event.update.late_result) {
        const detail = `${event.tool_call_id} changed and was never introduced`;
        violations.push({ invariant: 'I9', detail });
      }
      watcher.onNewCall(event.tool_call_id);
    }
    note(event.tool_call_id, event.update.status);
  }

  function note(id: string, status: string | undefined): void {
    const before = shown.get(id);
    if (status !== undefined && before !== undefined && isEnd(before) && before !== status) {
      const detail = `${id} was shown as ${before} and then as ${status}`;
      violations.push({ invariant: 'I3', detail });
    }
    shown.set(id, status ?? before ?? 'WAIT');
  }

  const watcher: Watcher = {
    shown,
    violations,
    onNewCall: () => {},
    stop() {
      isStopped = true;
      socket?.close();
    },
  };
  connect();
  return watcher;
}

const isEnd = (status: string): boolean => status === 'SUCCESS' || status === 'ERROR';
