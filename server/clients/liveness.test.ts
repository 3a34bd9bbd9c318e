import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { createManualClock } from '#lib/client/testing/manual-clock';
import { watchLiveness } from '../sockets/liveness.ts';

const BEAT = 10_000;

function setup(caps: readonly string[] = ['probe']) {
  const clock = createManualClock();
  const received: (boolean | 'probe' | 'ping' | 'terminated')[] = [];
  const events = new EventEmitter();
  const line = {
    isPaused: false,
    ping: () => received.push('ping'),
    terminate: () => received.push('terminated'),
    on: (name: string, listener: () => void) => events.on(name, listener),
  };
  const liveness = watchLiveness({
    clock,
    heartbeatMs: BEAT,
    socket: line as never,
    caps: () => caps,
    probe: () => received.push('probe'),
    onChange: (isAnswering) => received.push(isAnswering),
  });
  return { clock, received, liveness, line, pong: () => events.emit('pong') };
}

test.each([0, 1, 5_000, 9_999])('[LV1] silent from %d ms on: told within 20 s, once', (after) => {
  const { clock, received, liveness } = setup();
  clock.advance(BEAT + after);
  liveness.received();
  clock.advance(20_000 - after - 1);
  expect(received).not.toContain(false);
  clock.advance(1);
  expect(received).toContain(false);
  clock.advance(BEAT);
  expect(received.filter((one) => one === false)).toHaveLength(1);
});

test('[LV1] a pong is no word of a program that can be probed, and one of another', () => {
  const probed = setup();
  const pinged = setup([]);
  for (let beat = 0; beat < 3; beat += 1) {
    for (const one of [probed, pinged]) {
      one.clock.advance(BEAT);
      one.pong();
    }
  }
  expect([probed.received.includes(false), pinged.received.includes(false)]).toEqual([true, false]);
});

test.each([['probe'], []])('[LV2] any word makes it answer again (%s)', (...caps) => {
  const { clock, received, liveness, pong } = setup(caps);
  clock.advance(2 * BEAT);
  if (caps.length > 0) liveness.received();
  else pong();
  expect(received.filter((one) => typeof one === 'boolean')).toEqual([false, true]);
  liveness.received();
  expect(received.filter((one) => typeof one === 'boolean')).toEqual([false, true]);
});

test.each([0, 9_999])('[LV3] silent from %d ms after a beat on: terminated after 40 s', (after) => {
  const { clock, received, liveness } = setup();
  clock.advance(BEAT + after);
  liveness.received();
  clock.advance(4 * BEAT - after - 1);
  expect(received).not.toContain('terminated');
  clock.advance(1);
  expect(received.at(-1)).toBe('terminated');
});

test('[LV3] of a socket that was terminated nothing is left running', () => {
  const { clock, received } = setup();
  clock.advance(5 * BEAT);
  expect(received.at(-1)).toBe('terminated');
  const before = received.length;
  clock.advance(10 * BEAT);
  expect(received).toHaveLength(before);
});

test('[LV4] stalls of the server, however long and often, count nothing against a client', () => {
  const { clock, received, liveness } = setup();
  for (let stall = 0; stall < 5; stall += 1) {
    clock.freeze(BEAT + 10_000);
    clock.advance(0);
    // What it had answered meanwhile is read only now.
    liveness.received();
  }
  clock.freeze(60_000);
  clock.advance(0);
  clock.freeze(60_000);
  clock.advance(0);
  expect(received.filter((one) => one !== 'probe')).toEqual([]);
});

test('[UN2] while its socket is not read a client is neither silent nor gone, and after that as ever', () => {
  const { clock, received, line } = setup();
  line.isPaused = true;
  clock.advance(10 * BEAT);
  expect([received.includes(false), received.includes('terminated')]).toEqual([false, false]);
  line.isPaused = false;
  clock.advance(4 * BEAT);
  expect([received.includes(false), received.includes('terminated')]).toEqual([true, true]);
});
