import { expect, test } from 'vitest';
import { Outbox, WINDOW } from './pending-answers.ts';
import { createManualClock } from './testing/manual-clock.ts';

function setup() {
  const clock = createManualClock();
  const sent: string[] = [];
  const deleted = new Set<string>();
  const wall = { isOffBy: 0 };
  const outbox = new Outbox({
    environment: { schedule: clock.schedule, now: () => clock.now() + wall.isOffBy },
    answerOf: (id) => (deleted.has(id) ? undefined : { type: 'tool_error', id, error: 'x' }),
    send: (message) => {
      if (message.type === 'tool_error') sent.push(message.id);
      return true;
    },
  });
  /** Says what became of everything sent so far, and of what follows from that. */
  const settleAll = (wasAwaited: boolean) => {
    for (let at = 0; at < sent.length; at += 1) outbox.settled(sent[at] ?? '', wasAwaited);
  };
  return { clock, wall, sent, deleted, outbox, settleAll };
}

const many = (count: number) => Array.from({ length: count }, (_, at) => `tc_${at}`);

test('[CL33] a window of them is under way, and the next goes as one is settled', () => {
  const { outbox, sent } = setup();
  outbox.resend(many(200));
  expect(sent).toEqual(many(WINDOW));
  outbox.settled('tc_5', true);
  outbox.settled('tc_5', true);
  expect(sent).toEqual(many(WINDOW + 1));
});

test('[CL33] what the server waited for goes as fast as it is settled, and in order', () => {
  const { outbox, sent, settleAll } = setup();
  outbox.resend(many(3_000));
  settleAll(true);
  expect(sent).toEqual(many(3_000));
});

test('[CL33] of what it did not wait for a thousand go, and then five hundred a second', () => {
  const { clock, outbox, sent, settleAll } = setup();
  outbox.resend(many(3_000));
  settleAll(false);
  expect(sent).toHaveLength(1_000);
  for (let second = 1; second <= 4; second += 1) {
    for (let tenth = 0; tenth < 10; tenth += 1) {
      clock.advance(100);
      settleAll(false);
    }
    expect(sent).toEqual(many(1_000 + second * 500));
  }
});

test('[CL33] a clock that was set back stops nothing', () => {
  const { clock, wall, outbox, sent, settleAll } = setup();
  outbox.resend(many(1_050));
  settleAll(false);
  wall.isOffBy = -3_600_000;
  clock.advance(100);
  settleAll(false);
  clock.advance(100);
  expect(sent).toEqual(many(1_050));
});

test('[CL33] answers that the server says nothing to do not block the others', () => {
  const { clock, outbox, sent } = setup();
  outbox.resend(many(WINDOW + 2));
  clock.advance(9_999);
  expect(sent).toHaveLength(WINDOW);
  clock.advance(1);
  expect(sent).toEqual(many(WINDOW + 2));
});

test('[CL33] a new answer does not wait, and is not sent again in its turn', () => {
  const { outbox, sent, settleAll } = setup();
  outbox.resend(many(100));
  outbox.send('tc_99');
  expect(sent).toEqual([...many(WINDOW), 'tc_99']);
  settleAll(true);
  expect(sent).toEqual([...many(WINDOW), 'tc_99', ...many(99).slice(WINDOW)]);
});

test('[CL33] what is settled or dropped meanwhile is not sent', () => {
  const { deleted, outbox, sent, settleAll } = setup();
  outbox.resend(many(100));
  outbox.settled('tc_80', false);
  deleted.add('tc_81');
  settleAll(true);
  expect(sent).toEqual(many(100).filter((id) => id !== 'tc_80' && id !== 'tc_81'));
});

test('[CL33] without a connection nothing goes, and with the next one it begins anew', () => {
  const { clock, outbox, sent } = setup();
  outbox.resend(many(100));
  outbox.stop();
  clock.advance(60_000);
  expect(sent).toHaveLength(WINDOW);
  outbox.resend(many(3));
  expect(sent.slice(WINDOW)).toEqual(many(3));
});
