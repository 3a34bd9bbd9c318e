import { expect, test } from 'vitest';
import { createManualClock } from '#lib/client/testing/manual-clock';
import type { ServerMessage } from '#lib/protocol/server-messages';
import { Outbox } from './outbox.ts';

const MIB = 1024 * 1024;

/** A client that takes what was sent when the test says so. */
function setup() {
  const clock = createManualClock();
  const unread: { message: ServerMessage; taken(): void }[] = [];
  const endings: string[] = [];
  const socket = {
    OPEN: 1 as const,
    readyState: 1 as const,
    bufferedAmount: 0,
    send(text: string, taken: () => void) {
      socket.bufferedAmount += text.length;
      const free = () => {
        socket.bufferedAmount -= text.length;
        taken();
      };
      unread.push({ message: JSON.parse(text), taken: free });
    },
  };
  const outbox = new Outbox({
    // The edge to `ws`, whose `send` has more forms than are used.
    socket: socket as unknown as ConstructorParameters<typeof Outbox>[0]['socket'],
    clock,
    onSend: () => {},
    onFull: () => endings.push('full'),
    onStalled: () => endings.push('stalled'),
  });
  const request = (id: string, attempt = 1, bytes = MIB) =>
    outbox.send({
      ...{ type: 'tool_call_request', id, name: 'scan', args: { text: 'x'.repeat(bytes) } },
      ...{ run_id: 'run_1', attempt, timeout_ms: 1_000 },
    });
  /** Reads all that comes; calls and attempts of the requests among it. */
  const readAll = () => {
    const read: string[] = [];
    for (let next = unread.shift(); next; next = unread.shift()) {
      const { message } = next;
      read.push('attempt' in message ? `${message.id} ${message.attempt}` : message.type);
      next.taken();
    }
    return read;
  };
  return { clock, outbox, endings, unread, request, readAll };
}

test('[UN1] a request that waits goes with its call, and is never sent', () => {
  const { outbox, request, readAll, endings } = setup();
  for (const id of ['a', 'b', 'c', 'd', 'e']) request(id);
  outbox.send({ type: 'tool_call_cancel', id: 'd', reason: 'timeout: execute' });
  request('c', 2);
  expect(readAll()).toEqual(['a 1', 'b 1', 'e 1', 'tool_call_cancel', 'c 2']);
  expect(endings).toEqual([]);
});

test('[UN1] a client that takes nothing for a minute is cut off, whatever it sends, and one that is slow is not', () => {
  const { clock, outbox, request, unread, endings } = setup();
  for (let call = 0; call < 10; call += 1) request(`tc_${call}`);
  for (let minute = 0; minute < 5; minute += 1) {
    clock.advance(59_000);
    unread.shift()?.taken();
  }
  expect(endings).toEqual([]);
  outbox.send({ type: 'probe_ack', nonce: '1' });
  clock.advance(121_000);
  expect(endings).toEqual(['stalled']);
});

test('[UN1] a client to which nothing was sent for long has its minute from the next message on', () => {
  const { clock, outbox, readAll, endings } = setup();
  const probe = () => outbox.send({ type: 'probe', nonce: '1' });
  probe();
  readAll();
  clock.advance(50_000);
  probe();
  clock.advance(59_000);
  expect(endings).toEqual([]);
  readAll();
  clock.advance(600_000);
  probe();
  clock.advance(59_000);
  expect(endings).toEqual([]);
});

test('[UN1] the stall of the server counts against no client', () => {
  const { clock, request, endings, readAll } = setup();
  request('a');
  clock.freeze(200_000);
  clock.advance(0);
  expect(endings).toEqual([]);
  readAll();
  clock.advance(200_000);
  expect(endings).toEqual([]);
});

test('[UN1] what waits of a socket that has closed is not kept', () => {
  const { clock, outbox, request, unread, endings } = setup();
  for (const id of ['a', 'b', 'c', 'd']) request(id);
  outbox.stop();
  clock.advance(600_000);
  for (const { taken } of unread.splice(0)) taken();
  expect([unread.length, endings.length]).toEqual([0, 0]);
});
