import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createStatusThrottle, type StatusFields } from './status-throttle.ts';
import { createManualClock } from './testing/manual-clock.ts';

function setup() {
  const environment = createManualClock();
  const sent: StatusFields[] = [];
  const line = { up: true };
  const send = (fields: StatusFields) => {
    if (line.up) sent.push(fields);
    return line.up;
  };
  return { environment, sent, line, throttle: createStatusThrottle({ send, environment }) };
}

test('[CL13] the first goes at once, what follows goes together a little later', () => {
  const { throttle, sent, environment } = setup();
  throttle.push({ tip: 'a' });
  throttle.push({ tip: 'b', params: { x: 1 } });
  throttle.push({ progress: { done: 1 }, params: { y: 2 } });
  expect(sent).toEqual([{ tip: 'a' }]);
  environment.advance(100);
  expect(sent).toEqual([{ tip: 'a' }, { tip: 'b', progress: { done: 1 }, params: { x: 1, y: 2 } }]);
});

test('[CL13] at most ten in any second, and the last word of each field goes', () => {
  const news = fc.array(
    fc.record({ after: fc.integer({ min: 0, max: 80 }), done: fc.nat(), tip: fc.string() }),
    { minLength: 1, maxLength: 60 },
  );
  fc.assert(
    fc.property(news, (pushes) => {
      const clock = createManualClock();
      const sent: { at: number; fields: StatusFields }[] = [];
      const throttle = createStatusThrottle({
        environment: clock,
        send: (fields) => sent.push({ at: clock.now(), fields }) > 0,
      });
      for (const { after, done, tip } of pushes) {
        clock.advance(after);
        throttle.push({ tip, progress: { done } });
      }
      clock.advance(100);
      const last = pushes.at(-1);
      expect(sent.at(-1)?.fields).toEqual({ tip: last?.tip, progress: { done: last?.done } });
      for (const [index, { at }] of sent.entries()) {
        const tenLater = sent[index + 10];
        if (tenLater) expect(tenLater.at - at).toBeGreaterThanOrEqual(1_000);
      }
    }),
  );
});

test('[CL13] what could not be sent waits for the connection', () => {
  const { throttle, sent, line } = setup();
  line.up = false;
  throttle.push({ tip: 'a' });
  throttle.push({ progress: { done: 1 } });
  line.up = true;
  throttle.flush();
  expect(sent).toEqual([{ tip: 'a', progress: { done: 1 } }]);
});

test('[CL13] a clock set back does not hold news for longer than the interval', () => {
  const { throttle, sent, environment } = setup();
  throttle.push({ tip: 'a' });
  environment.freeze(-60_000);
  throttle.push({ tip: 'b' });
  environment.advance(100);
  expect(sent).toHaveLength(2);
});
