import type { Address } from '../../start-callboard.ts';
import type { Bad } from '../scenario.ts';
import { openLastingSocket } from './lasting-socket.ts';

/** A client that answers calls which others were asked; nothing that it says may count (I11). */
export interface Intruder {
  answer(callId: string): void;
  readonly rejected: number;
  stop(): void;
}

export function intrude(server: Address, bad: Bad): Intruder {
  let rejected = 0;
  const socket = openLastingSocket(server, '/ws/client', {
    message(value) {
      const { type, id, disposition } = value as Record<string, unknown>;
      if (type === 'result_rejected') rejected += 1;
      if (type === 'result_acknowledged')
        bad('I11', `${id}: the answer of a client that was not asked was taken (${disposition})`);
    },
  });
  return {
    get rejected() {
      return rejected;
    },
    answer(callId) {
      const output = { call: callId, by: 'intruder' };
      socket.send({ type: 'tool_result', id: callId, output, success: true });
    },
    stop: () => socket.stop(),
  };
}
