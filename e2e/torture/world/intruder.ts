import type { Violation } from '../scenario.ts';

/** A client that answers calls which others were asked; nothing that it says may count (I11). */
export interface Intruder {
  answer(callId: string): void;
  readonly violations: readonly Violation[];
  readonly rejected: number;
  stop(): void;
}

const RETRY_MS = 50;

export function intrude(url: string, token: string): Intruder {
  const violations: Violation[] = [];
  let rejected = 0;
  let isStopped = false;
  let socket: WebSocket | undefined;

  function connect(): void {
    if (isStopped) return;
    const current = new WebSocket(url, ['callboard.v1', `bearer.${token}`]);
    socket = current;
    current.addEventListener('message', ({ data }) => {
      const { type, id, disposition } = JSON.parse(String(data));
      if (type === 'result_rejected') rejected += 1;
      if (type !== 'result_acknowledged') return;
      const detail = `${id}: the answer of a client that was not asked was taken (${disposition})`;
      violations.push({ invariant: 'I11', detail });
    });
    current.addEventListener('error', () => {});
    current.addEventListener('close', () => setTimeout(connect, RETRY_MS));
  }

  connect();
  return {
    violations,
    get rejected() {
      return rejected;
    },
    answer(callId) {
      if (socket?.readyState !== WebSocket.OPEN) return;
      const output = { call: callId, by: 'intruder' };
      socket.send(JSON.stringify({ type: 'tool_result', id: callId, output, success: true }));
    },
    stop() {
      isStopped = true;
      socket?.close();
    },
  };
}
