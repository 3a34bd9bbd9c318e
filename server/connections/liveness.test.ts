import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { createManualClock } from '#lib/client/testing/manual-clock';
import { watchLiveness } from '../sockets/liveness.ts';

const BEAT = 10_000;

function setup(caps: readonly string[] = ['probe']) {
  const clock = createManualClock();
  const told: (boolean | 'probe' | 'ping' | 'terminated')[] = [];
  const events = new EventEmitter();
  const line = {
    isPaused: false,
    ping: () => told.push('ping'),
    terminate: () => told.push('terminated'),
    on: (name: string, listener: () => void) => events.on(name, listener),
  };
  const liveness = watchLiveness({
    clock,
    heartbeatMs: BEAT,
    socket: line as never,
    caps: () => caps,
    probe: () => told.push('probe'),
    onChange: (isAnswering) => told.push(isAnswering),
  });
  return { clock, told, liveness, line, pong: () => events.emit('pong') };
}

test.each([0, 1, 5_000, 9_999])(
  '[LV1] silent from %d ms after a beat on: told within 20 s, once',
  (after) => {
    const { clock, told, liveness } = setup();
    clock.advance(BEAT + after);
    liveness.received();
    clock.advance(20_000 - after - 1);
    expect(told).not.toContain(false);
    clock.advance(1);
    expect(told).toContain(false);
    clock.advance(BEAT);
    expect(told.filter((one) => one === false)).toHaveLength(1);
  },
);

test('[LV1] a pong is no word of a program that can be probed, and one of another', () => {
  const probed = setup();
  const pinged = setup([]);
  for (let beat = 0; beat < 3; beat += 1) {
    for (const one of [probed, pinged]) {
      one.clock.advance(BEAT);
      one.pong();
    }
  }
  expect([probed.told.includes(false), pinged.told.includes(false)]).toEqual([true, false]);
});

test.each([['probe'], []])('[LV2] any word makes it answer again (%s)', (...caps) => {
  const { clock, told, liveness, pong } = setup(caps);
  clock.advance(2 * BEAT);
  if (caps.length > 0) liveness.received();
  else pong();
  expect(told.filter((one) => typeof one === 'boolean')).toEqual([false, true]);
  liveness.received();
  expect(told.filter((one) => typeof one === 'boolean')).toEqual([false, true]);
});

test.each([0, 9_999])('[LV3] silent from %d ms after a beat on: terminated after 40 s', (after) => {
  const { clock, told, liveness } = setup();
  clock.advance(BEAT + after);
  liveness.received();
  clock.advance(4 * BEAT - after - 1);
  expect(told).not.toContain('terminated');
  clock.advance(1);
  expect(told.at(-1)).toBe('terminated');
});

test('[LV3] of a socket that was terminated nothing is left running', () => {
  const { clock, told } = setup();
  clock.advance(5 * BEAT);
  expect(told.at(-1)).toBe('terminated');
  const before = told.length;
  clock.advance(10 * BEAT);
  expect(told).toHaveLength(before);
});

test('[LV4] stalls of the server, however long and often, count nothing against a client', () => {
  const { clock, told, liveness } = setup();
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
  expect(told.filter((one) => one !== 'probe')).toEqual([]);
});

test('[UN2] while its socket is not read a client is neither silent nor gone, and after that as ever', () => {
  const { clock, told, line } = setup();
  line.isPaused = true;
  clock.advance(10 * BEAT);
  expect([told.includes(false), told.includes('terminated')]).toEqual([false, false]);
  line.isPaused = false;
  clock.advance(4 * BEAT);
  expect([told.includes(false), told.includes('terminated')]).toEqual([true, true]);
});
