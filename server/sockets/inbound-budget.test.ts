import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { createManualClock } from '#lib/client/testing/manual-clock';
import { createCollector } from '../base/collect-garbage.ts';
import { InboundBudget, watchInbound } from './inbound.ts';

const MIB = 1024 * 1024;

function setup() {
  const clock = createManualClock();
  const budget = new InboundBudget({ clock, collector: createCollector(() => {}) });
  /** A sender of a large message: sends while it is read. */
  const sender = () => {
    const self = { isRead: true, isCut: false, arriving: 0, waiting: 0 };
    const share = budget.open({
      pause: () => {
        self.isRead = false;
      },
      resume: () => {
        self.isRead = true;
      },
      cut: () => {
        self.isCut = true;
        self.arriving = 0;
        share.set({ arriving: 0, waiting: 0 });
      },
    });
    return Object.assign(self, {
      /** False when it is not read. */
      send(bytes: number): boolean {
        if (!self.isRead || self.isCut) return false;
        self.arriving += bytes;
        share.set(self);
        return true;
      },
      complete() {
        Object.assign(self, { waiting: self.waiting + self.arriving, arriving: 0 });
        share.set(self);
      },
      handled() {
        self.waiting = 0;
        share.set(self);
      },
    });
  };
  return { clock, sender };
}

const held = (senders: readonly { arriving: number; waiting: number }[]) =>
  senders.reduce((sum, { arriving, waiting }) => sum + arriving + waiting, 0);

test('[UN3] of 300 messages of 4 MiB a bounded part is in memory, and all of them arrive', () => {
  const { sender } = setup();
  const senders = Array.from({ length: 300 }, sender);
  const done = new Set<(typeof senders)[number]>();
  let most = 0;
  for (let round = 0; done.size < senders.length; round += 1) {
    if (round > 100_000) throw new Error('they do not arrive');
    for (const one of senders) {
      if (!done.has(one) && one.send(MIB / 16) && one.arriving >= 4 * MIB) {
        one.complete();
        done.add(one);
      }
    }
    if (round % 10 === 0) most = Math.max(most, held(senders));
    // The server handles one at a time, and more slowly than they come.
    if (round % 50 === 0) senders.find(({ waiting }) => waiting > 0)?.handled();
  }
  // 8 MiB, the two that are read, and of each what comes in one read of its socket.
  expect(most).toBeLessThan((8 + 2 * 4 + 300 / 16) * MIB);
});

test('[UN3] who sends little is always read', () => {
  const { sender } = setup();
  for (const one of Array.from({ length: 10 }, sender)) one.send(8 * MIB);
  const small = sender();
  expect(small.send(15_000)).toBe(true);
  small.complete();
  small.handled();
  expect(small.isRead).toBe(true);
});

/** Takes all the room, and sends no more. */
function fill(sender: ReturnType<typeof setup>['sender']) {
  const stuck = Array.from({ length: 8 }, sender);
  for (const one of stuck) one.send(8 * MIB);
  return stuck;
}

test('[UN3] those that stop in the middle are cut while others wait for them', () => {
  const { clock, sender } = setup();
  const stuck = fill(sender);
  const waits = sender();
  waits.send(MIB / 16);
  expect(waits.isRead).toBe(false);
  for (let seconds = 0; seconds < 30 && !waits.isRead; seconds += 3) clock.advance(3_000);
  expect(waits.isRead).toBe(true);
  expect(stuck.filter(({ isCut }) => isCut).length).toBeLessThan(stuck.length);
});

test('[UN3] who comes last does not wait for all that came before and send nothing', () => {
  const { clock, sender } = setup();
  // None of them is large alone: to cut them all would take minutes.
  const stuck = Array.from({ length: 600 }, sender);
  for (const one of stuck) one.send(MIB / 16);
  const last = sender();
  last.send(MIB / 16);
  for (let seconds = 0; seconds < 9 && !last.isRead; seconds += 3) clock.advance(3_000);
  expect(last.isRead).toBe(true);
});

test('[UN3] one that sends its message slowly while others wait is read for a minute, and then cut', () => {
  const { clock, sender } = setup();
  const slow = sender();
  slow.send(MIB);
  const others = Array.from({ length: 8 }, sender);
  for (const one of others) one.send(8 * MIB);
  // The newest has its own turn; these are not cut, but they do not end either.
  const steps = 19;
  for (let step = 0; step < steps; step += 1) {
    slow.send(20 * 1024);
    clock.advance(3_000);
    for (const one of others) if (one.isCut) others.splice(others.indexOf(one), 1, refill(sender));
    expect(slow.isCut).toBe(false);
  }
  slow.send(20 * 1024);
  clock.advance(3_000);
  expect(slow.isCut).toBe(true);
});

function refill(sender: ReturnType<typeof setup>['sender']) {
  const one = sender();
  one.send(16 * MIB);
  return one;
}

test('[UN3] where nobody waits, a slow one takes as long as it likes', () => {
  const { clock, sender } = setup();
  const slow = sender();
  for (let minute = 0; minute < 15; minute += 1) {
    slow.send(MIB);
    clock.advance(60_000);
  }
  expect([slow.isRead, slow.isCut]).toEqual([true, false]);
});

test('[UN3] one that is complete and waits for the server is not cut', () => {
  const { clock, sender } = setup();
  const whole = sender();
  whole.send(15 * MIB);
  whole.complete();
  const others = Array.from({ length: 3 }, sender);
  for (const one of others) one.send(8 * MIB);
  for (const one of others) one.complete();
  clock.advance(600_000);
  expect([whole, ...others].map(({ isCut }) => isCut)).toEqual([false, false, false, false]);
});

test('[UN3] a large message is a sign of life while it arrives, and a small one is none', async () => {
  const budget = new InboundBudget({ clock: createManualClock() });
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => server.close());
  const seen: string[] = [];
  server.on('connection', (socket, { socket: stream }) => {
    watchInbound(budget, socket, stream).onArriving(() => seen.push('arriving'));
    socket.on('message', (data) => seen.push(`${String(data).length}`));
  });
  await once(server, 'listening');
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(() => client.terminate());
  await once(client, 'open');
  client.send('small');
  await expect.poll(() => seen).toEqual(['5']);
  client.send('x'.repeat(100_000), { fin: false });
  await expect.poll(() => seen.at(-1)).toBe('arriving');
  client.send('y');
  await expect.poll(() => seen.at(-1)).toBe('100001');
});
