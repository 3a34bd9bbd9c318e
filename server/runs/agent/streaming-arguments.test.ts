import { expect, test } from 'vitest';
import type { Clock } from '../../base/clock.ts';
import { echo, inOrder, MODELS, setupTurns } from './testing/setup-turns.ts';

/** A clock on which every look takes 4 ms: time passes with what is done, not with the machine. */
function createSteppingClock(): Clock {
  let now = 0;
  let timers: { at: number; fire: () => void }[] = [];
  const fireDue = () => {
    const due = timers.filter(({ at }) => at <= now);
    timers = timers.filter((one) => !due.includes(one));
    for (const { fire } of due) fire();
  };
  return {
    now() {
      now += 4;
      queueMicrotask(fireDue);
      return now;
    },
    schedule(ms, fire) {
      const timer = { at: now + ms, fire };
      timers.push(timer);
      return () => {
        timers = timers.filter((one) => one !== timer);
      };
    },
  };
}

/** 20 kB in which every place is known by the word that stands there. */
const TEXT = Array.from({ length: 3_334 }, (_, n) => String(n).padStart(5, '0')).join(' ');

/** How much of the text an update shows, by its last whole word. */
const placeOf = (shown: unknown): number =>
  Number(/(\d{5})(?: \d{0,4})?$/.exec(String(shown))?.[1] ?? 0) * 6;

test.each(MODELS)(
  '[AL22] %s: a text of 20 kB grows on its card while it is streamed',
  async (model) => {
    const script = inOrder(
      { calls: [{ name: 'demo_echo', args: { text: TEXT } }], pieceChars: 20 },
      { text: 'done' },
    );
    const clock = createSteppingClock();
    const { turn, calls } = await setupTurns({ model, script, tools: [echo], agent: { clock } });
    await turn('write');
    expect(calls.records.get('tc_1')?.args).toEqual({ text: TEXT });
    const places = calls.updates.map(({ params }) => placeOf(params.text));
    const stretches = places.map((place, at) => place - (places[at - 1] ?? 0));
    expect(Math.max(...stretches, TEXT.length - (places.at(-1) ?? 0))).toBeLessThan(1_200);
    expect(calls.updates.length).toBeLessThan(400);
    expect(JSON.stringify(calls.updates).length).toBeLessThan(400 * 600);
  },
);
