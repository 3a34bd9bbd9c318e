import { expect, test } from 'vitest';
import { createManualClock } from '#lib/client/testing/manual-clock';
import type { CardUpdate } from '#lib/protocol/card';
import type { ToolListing } from '#lib/protocol/tool-spec';
import type { WatchEvent } from '#lib/protocol/watch-messages';
import { tool } from '#lib/stores/testing/fixtures';
import { createMemoryBus } from '../events/memory-bus.ts';
import { createErrorLog } from '../testing/error-log.ts';
import { createSnapshots } from './snapshot.ts';
import { WATCH_LIMITS, WatchHub } from './watch-hub.ts';
import { createWholeLists } from './whole-lists.ts';

test('[WA4] the same bytes go to every watcher, one frame for what a moment brought', async () => {
  const { hub, nextMoment, send, watcher } = setup();
  const [a, b] = [watcher(), watcher()];
  await hub.add(a.channel, {});
  await hub.add(b.channel, {});
  send('tc_1', { status: 'WAIT' });
  send('tc_1', { status: 'DOING' });
  await nextMoment();
  expect(a.frames).toHaveLength(2);
  expect(a.frames[1]).toBe(b.frames[1]);
  expect(a.messages()[1]).toMatchObject({ type: 'batch', events: [{ seq: 1 }, { seq: 2 }] });
});

test('[WA4] frames are 16 ms apart, in order and whole; after quiet the first comes at once', async () => {
  const { hub, send, watcher, clock } = setup();
  const [one, ofRun] = [watcher(), watcher()];
  await hub.add(one.channel, {});
  await hub.add(ofRun.channel, { runId: 'run_1' });
  send('tc_1', { status: 'WAIT' });
  await inTurn();
  for (const status of ['DOING', 'SUCCESS'] as const) {
    send('tc_1', { status });
    await inTurn();
  }
  const late = watcher();
  await hub.add(late.channel, { since: 2 });
  await inTurn();
  const seen = ({ messages }: ReturnType<typeof watcher>) =>
    messages().map(({ type, seq, events = [{ seq }] }) => [
      type,
      events.map((event: WatchEvent) => event.seq),
    ]);
  const before = [
    ['snapshot', [0]],
    ['call', [1]],
  ];
  expect(seen(one)).toEqual(before);
  clock.advance(16);
  expect(seen(one)).toEqual([...before, ['batch', [2, 3]]]);
  expect(seen(ofRun)).toEqual(seen(one));
  expect(late.events().map(({ seq }) => seq)).toEqual([3]);
  clock.advance(16);
  send('tc_2', { status: 'WAIT' });
  await inTurn();
  expect(seen(one)).toEqual([...before, ['batch', [2, 3]], ['call', [4]]]);
  expect(seen(late).at(-1)).toEqual(['call', [4]]);
  send('tc_2', { status: 'DOING' });
  await inTurn();
  hub.close();
  expect(seen(one).at(-1)).toEqual(['call', [5]]);
});

test('[WA5] what is newer comes also when timers are before the bus', async () => {
  const { hub, nextMoment, send, watcher, clock } = setup();
  for (const n of [1, 2, 3]) send('tc_1', { tip: `${n}` });
  await nextMoment();
  const again = watcher();
  await hub.add(again.channel, { since: 1 });
  clock.advance(1);
  await nextMoment();
  send('tc_1', { tip: '4' });
  await nextMoment();
  expect(again.events().map(({ seq }) => seq)).toEqual([2, 3, 4]);
});

test('[WA7] who asks for another run meanwhile is sent nothing of the first request', async () => {
  const { hub, nextMoment, send, watcher } = setup();
  for (const n of [1, 2, 3]) send('tc_1', { tip: `${n}` }, 'run_a');
  await nextMoment();
  const one = watcher();
  const leave = await hub.add(one.channel, { since: 1 });
  leave();
  await hub.add(one.channel, { runId: 'run_b' });
  await nextMoment();
  expect(one.messages().map(({ type, seq }) => [type, seq])).toEqual([['snapshot', 3]]);
});

test('[WA5] since a number that the log no longer has, or never had, a snapshot comes', async () => {
  const { hub, send, watcher } = setup({ firstSeq: 1_000 });
  send('tc_1', { tip: '1' });
  for (const since of [5, 999_999]) {
    const late = watcher();
    await hub.add(late.channel, { since });
    expect(late.messages()[0]).toMatchObject({ type: 'snapshot', seq: 1_000 });
  }
});

test('[WA5] what happens while the snapshot is taken follows it', async () => {
  const { hub, nextMoment, send, watcher, slowSnapshot } = setup();
  const { finish } = slowSnapshot();
  const late = watcher();
  const added = hub.add(late.channel, {});
  send('tc_1', { tip: 'before the snapshot is made' });
  await nextMoment();
  finish();
  await added;
  send('tc_1', { tip: 'after' });
  await nextMoment();
  expect(late.messages()[0]).toMatchObject({ type: 'snapshot', seq: 1 });
  expect(late.events().map(({ seq }) => seq)).toEqual([2]);
});

test('[WA6] a slow watcher gets merged updates when it reads again; a fast one does not wait', async () => {
  const { hub, nextMoment, send, watcher, clock } = setup();
  const [slow, fast] = [watcher(), watcher()];
  await hub.add(slow.channel, {});
  await hub.add(fast.channel, {});
  slow.buffered = WATCH_LIMITS.mergeAboveBytes + 1;
  for (let n = 1; n <= 50; n++) {
    send('tc_1', { status: 'DOING', progress: { done: n } });
    await nextMoment();
  }
  expect(fast.events()).toHaveLength(50);
  expect(slow.events()).toHaveLength(0);
  slow.buffered = 0;
  clock.advance(WATCH_LIMITS.pollMs);
  // One that was merged skips numbers, so it does not come alone.
  expect(slow.messages().at(-1)).toMatchObject({
    type: 'batch',
    events: [{ seq: 50, update: { progress: { done: 50 } } }],
  });
  send('tc_1', { tip: 'live again' });
  await nextMoment();
  expect(slow.events()).toHaveLength(2);
});

test('[WA6] what happens in the very moment in which it reads again is not lost', async () => {
  const { hub, nextMoment, send, watcher, clock } = setup();
  const slow = watcher();
  await hub.add(slow.channel, {});
  slow.buffered = WATCH_LIMITS.mergeAboveBytes + 1;
  send('tc_1', { status: 'DOING' });
  await nextMoment();
  slow.buffered = 0;
  // Numbered, and not yet delivered: a timer was before it.
  send('tc_1', { status: 'SUCCESS' });
  clock.advance(WATCH_LIMITS.pollMs);
  await nextMoment();
  expect(slow.events().map(({ seq }) => seq)).toEqual([1, 2]);
});

test('[WA6] one that never reads is cut off, for its patience or for its bytes', async () => {
  const { hub, nextMoment, send, watcher, clock } = setup();
  const [stubborn, huge] = [watcher(), watcher()];
  await hub.add(stubborn.channel, {});
  await hub.add(huge.channel, {});
  stubborn.buffered = WATCH_LIMITS.mergeAboveBytes + 1;
  huge.buffered = WATCH_LIMITS.cutAboveBytes + 1;
  send('tc_1', { tip: 'x' });
  await nextMoment();
  expect([stubborn.cut, huge.cut]).toEqual([false, true]);
  clock.advance(WATCH_LIMITS.patienceMs + WATCH_LIMITS.pollMs * 2);
  expect(stubborn.cut).toBe(true);
  expect(hub.count).toBe(0);
});

test('[WA8] one that asks again and has not read what it was sent gets no more, and is cut off', async () => {
  const { hub, watcher } = setup();
  const greedy = watcher();
  const leave = await hub.add(greedy.channel, {});
  leave();
  greedy.buffered = 2 * WATCH_LIMITS.mergeAboveBytes + 1;
  await hub.add(greedy.channel, {});
  expect(greedy.frames).toHaveLength(1);
  expect(greedy.cut).toBe(true);
  expect(hub.count).toBe(0);
});

test('[WA15] one whose snapshot cannot be made is cut off, and nothing is kept for it', async () => {
  const { hub, watcher, slowSnapshot } = setup();
  const { fail } = slowSnapshot();
  const one = watcher();
  const added = hub.add(one.channel, {});
  fail(new Error('a row is damaged'));
  await expect(added).rejects.toThrow('a row is damaged');
  expect([one.cut, hub.count]).toEqual([true, 0]);
});

test('[WA13] who asks for changes is sent them; others, and one that was slow, the whole list', async () => {
  const { hub, nextMoment, offer, watcher, clock } = setup();
  const [old, asking, slow] = [watcher(), watcher(), watcher()];
  await hub.add(old.channel, {});
  await hub.add(asking.channel, { changes: true });
  await hub.add(slow.channel, { changes: true });
  slow.buffered = WATCH_LIMITS.mergeAboveBytes + 1;
  for (const name of ['a', 'b', 'c']) offer(name);
  await nextMoment();
  slow.buffered = 0;
  clock.advance(WATCH_LIMITS.pollMs);
  const seen = (one: ReturnType<typeof watcher>) =>
    one
      .events()
      .map((event) => [
        event.type,
        event.seq,
        'tools' in event && event.tools.map(({ name }) => name),
      ]);
  expect(seen(asking)).toEqual([
    ['tools_changed', 1, ['a']],
    ['tools_changed', 2, ['b']],
    ['tools_changed', 3, ['c']],
  ]);
  expect(seen(old)).toEqual([1, 2, 3].map((seq) => ['tools', seq, ['a', 'b', 'c']]));
  expect(seen(slow)).toEqual([['tools', 3, ['a', 'b', 'c']]]);
  const [again, late] = [watcher(), watcher()];
  await hub.add(again.channel, { since: 1, changes: true });
  await hub.add(late.channel, { since: 1 });
  await nextMoment();
  expect(seen(again).map(([type]) => type)).toEqual(['tools_changed', 'tools_changed']);
  expect(seen(late)).toEqual([2, 3].map((seq) => ['tools', seq, ['a', 'b', 'c']]));
});

test('[WA13] in place of many changes the list is sent once, and who comes back gets a snapshot', async () => {
  const { hub, nextMoment, offer, watcher } = setup();
  const [old, late, asking] = [watcher(), watcher(), watcher()];
  await hub.add(old.channel, {});
  for (let n = 0; n < 9; n += 1) offer(`tool_${n}`);
  await nextMoment();
  expect(old.events().map(({ type, seq }) => [type, seq])).toEqual([['tools', 9]]);
  await hub.add(late.channel, { since: 0 });
  await hub.add(asking.channel, { since: 0, changes: true });
  await expect
    .poll(() => late.messages().map(({ type, seq }) => [type, seq]))
    .toEqual([['snapshot', 9]]);
  expect(asking.events()).toHaveLength(9);
});

/** Two turns of the event loop: the bus gathers a moment in one. */
const inTurn = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));

function setup({ firstSeq = 1 } = {}) {
  const { logger } = createErrorLog();
  const clock = createManualClock();
  const bus = createMemoryBus({ firstSeq, logger });
  let ready: Promise<void> = Promise.resolve();
  const snapshot = createSnapshots({
    devices: () => ({ asking: 0, waiting: 0 }),
    bus,
    calls: { watched: () => [], endedOf: async () => [] },
    runs: { watched: () => ready.then(() => []) },
    registry: { list: () => [] },
    clients: () => [],
    publishNow: () => {},
  });
  const tools: ToolListing[] = [];
  const lists = createWholeLists({
    bus,
    registry: { list: () => tools },
    clients: () => [],
    publishNow: () => {},
  });
  const hub = new WatchHub({ bus, snapshot, lists, clock, logger });
  return {
    hub,
    clock,
    /** And the time after which what comes next is a frame of its own. */
    async nextMoment() {
      await inTurn();
      clock.advance(16);
    },
    /** It is offered now: the whole list has it, and the change says it. */
    offer(name: string) {
      tools.push({ ...tool(name), description: `Number ${tools.length}` });
      const change = { tools: tools.slice(-1), removed: [], joined: {}, first: {} };
      bus.publish({ type: 'tools_changed', ...change });
    },
    send: (id: string, update: CardUpdate, runId = 'run_1') =>
      bus.publish({ type: 'call', tool_call_id: id, run_id: runId, update }),
    slowSnapshot() {
      const { promise, resolve: finish, reject: fail } = Promise.withResolvers<void>();
      ready = promise;
      return { finish, fail };
    },
    watcher() {
      const frames: Buffer[] = [];
      const self = {
        frames,
        buffered: 0,
        cut: false,
        channel: {
          send: (frame: Buffer) => void frames.push(frame),
          get bufferedBytes() {
            return self.buffered;
          },
          cutOff: () => {
            self.cut = true;
          },
        },
        messages: () => frames.map((frame) => JSON.parse(frame.toString())),
        events: (): WatchEvent[] =>
          self.messages().flatMap((message) => {
            if (message.type === 'snapshot') return [];
            return message.type === 'batch' ? message.events : [message];
          }),
      };
      return self;
    },
  };
}
