import { expect, test } from 'vitest';
import { setupFeed } from './testing/feed-setup.ts';
import { callEvent, snapshot } from './testing/fixtures.ts';
import { createFrameScheduler } from './watch-feed.ts';

const event = (seq: number) => callEvent(seq, 'tc_a', { tip: String(seq) });

/** Connected, with a snapshot up to 10 drawn. */
function setupConnected() {
  const test = setupFeed();
  test.socket.open();
  test.socket.receive(snapshot(10));
  test.frame();
  test.handed.length = 0;
  return test;
}

test('[SW1] at first it asks for a snapshot, after a loss for what is newer', () => {
  const { socket, sockets, pass } = setupConnected();
  expect(socket.sent).toEqual([{ type: 'watch', changes: true, parts: true }]);
  socket.receive(event(11));
  socket.lose();
  pass(30_000);
  sockets[1]?.open();
  expect(sockets[1]?.sent).toEqual([{ type: 'watch', changes: true, since: 11 }]);
});

test('[SW1] a snapshot that never came is asked for again', () => {
  const { socket, sockets, pass } = setupFeed();
  socket.open();
  socket.lose();
  pass(30_000);
  sockets[1]?.open();
  expect(sockets[1]?.sent).toEqual([{ type: 'watch', changes: true, parts: true }]);
});

const WATCH = { type: 'watch', changes: true };
const part = (next: string | null) => ({ type: 'ended' as const, calls: [], next });

test('[SW16] it asks for the ended calls part by part, and takes what is new between two of them', () => {
  const { socket, handed, frame } = setupFeed();
  socket.open();
  const first = { ...snapshot(10), rest: { ended: 'a' } };
  socket.receive(first);
  expect(socket.sent.slice(1)).toEqual([{ type: 'ended', from: 'a' }]);
  socket.receive(event(11));
  socket.receive(part('b'));
  frame();
  expect(handed).toEqual([{ snapshot: first }, { ended: part('b') }, { events: [event(11)] }]);
  socket.receive(part(null));
  expect(socket.sent.slice(2)).toEqual([{ type: 'ended', from: 'b' }]);
});

test('[SW16] a loss between two parts goes on with the next one', () => {
  const { socket, sockets, pass } = setupFeed();
  socket.open();
  socket.receive({ ...snapshot(10), rest: { ended: 'a' } });
  socket.receive(part('b'));
  socket.lose();
  pass(30_000);
  sockets[1]?.open();
  expect(sockets[1]?.sent).toEqual([
    { ...WATCH, since: 10 },
    { type: 'ended', from: 'b' },
  ]);
});

test('[SW16] where the first part had no room for what is open, all of it is asked for', () => {
  const { socket, sockets, handed, frame, pass } = setupFeed();
  socket.open();
  socket.receive({ ...snapshot(10), rest: { snapshot: true } });
  expect(socket.sent.slice(1)).toEqual([WATCH]);
  socket.lose();
  pass(30_000);
  sockets[1]?.open();
  expect(sockets[1]?.sent).toEqual([WATCH]);
  sockets[1]?.receive(snapshot(12));
  // Of a part that was asked for before, all is in the snapshot.
  sockets[1]?.receive(part(null));
  frame();
  expect(handed.at(-1)).toEqual({ snapshot: snapshot(12) });
  expect(sockets[1]?.sent).toHaveLength(1);
});

test('[SW2] what came between two frames is handed on in one piece', () => {
  const { socket, handed, frame } = setupFeed();
  socket.open();
  socket.receive(snapshot(10));
  socket.receive(event(11));
  socket.receive({ type: 'batch', events: [event(12), event(13)] });
  expect(handed).toEqual([]);
  frame();
  expect(handed).toEqual([
    { snapshot: snapshot(10) },
    { events: [event(11), event(12), event(13)] },
  ]);
});

test('[SF13] events that are not newer are dropped', () => {
  const { socket, handed, frame } = setupConnected();
  socket.receive({ type: 'batch', events: [event(9), event(10), event(11), event(11)] });
  frame();
  expect(handed).toEqual([{ events: [event(11)] }]);
});

test('[SF13] a snapshot drops what was queued before it', () => {
  const { socket, handed, frame } = setupConnected();
  socket.receive(event(11));
  socket.receive(snapshot(20));
  frame();
  expect(handed).toEqual([{ snapshot: snapshot(20) }]);
});

test('[SF13] events before any snapshot are not taken', () => {
  const { socket, handed, frame } = setupFeed();
  socket.open();
  socket.receive(event(1));
  frame();
  expect(handed).toEqual([]);
});

test('[SW3] each lost attempt waits longer and says until when', () => {
  const { states, sockets, world, pass } = setupFeed();
  for (const expected of [500, 1_000, 2_000]) {
    sockets.at(-1)?.lose();
    const state = states.at(-1);
    expect(state).toMatchObject({ kind: 'reconnecting', retryAt: world.now + expected });
    pass(expected);
  }
  expect(states.at(-1)).toMatchObject({ attempt: 3 });
  expect(sockets).toHaveLength(4);
});

test('[SW4] a connection that lasted makes the next attempt the first one again', () => {
  const { sockets, states, pass } = setupFeed();
  sockets[0]?.lose();
  pass(500);
  sockets[1]?.open();
  pass(500);
  sockets[1]?.lose();
  expect(states.at(-1)).toMatchObject({ attempt: 2 });
  pass(1_000);
  sockets[2]?.open();
  pass(60_000);
  sockets[2]?.lose();
  expect(states.at(-1)).toMatchObject({ attempt: 1 });
});

test('[SW5] a wake ends the wait at once, and does so for one socket only', () => {
  const { sockets, wake, pass } = setupFeed();
  sockets[0]?.lose();
  wake();
  expect(sockets).toHaveLength(2);
  wake();
  pass(60_000);
  expect(sockets).toHaveLength(2);
});

test('[SW5] a wake asks a connected socket, and an answer keeps it', () => {
  const { socket, states, wake, pass } = setupConnected();
  wake();
  expect(socket.sent.at(-1)).toEqual({ type: 'probe', nonce: 'nonce' });
  wake();
  expect(socket.sent).toHaveLength(2);
  socket.receive({ type: 'probe_ack', nonce: 'nonce' });
  pass(2_000);
  expect(states.at(-1)).toEqual({ kind: 'connected' });
});

test('[SW5] a page that is put away closes its socket, and asks for what is newer when it is back', () => {
  const { socket, sockets, wake, putAway } = setupConnected();
  putAway();
  expect(socket.closedWith).toBe(4000);
  wake();
  sockets[1]?.open();
  expect(sockets[1]?.sent).toEqual([{ type: 'watch', changes: true, since: 10 }]);
});

test('[SW14] a socket without an answer in two seconds is lost, and what it still says is ignored', () => {
  const { socket, sockets, states, handed, frame, wake, pass } = setupConnected();
  wake();
  pass(2_000);
  expect(states.at(-1)).toMatchObject({ kind: 'reconnecting', attempt: 1 });
  expect(socket.closedWith).toBe(4000);
  const before = handed.length;
  socket.receive(event(11));
  frame();
  expect(handed).toHaveLength(before);
  pass(30_000);
  expect(sockets).toHaveLength(2);
});

test('[SW14] so is one that was silent for ten seconds, and an attempt that takes five', () => {
  const { socket, sockets, states, pass } = setupConnected();
  pass(10_000);
  expect(socket.sent.at(-1)).toEqual({ type: 'probe', nonce: 'nonce' });
  pass(2_000);
  pass(1_000);
  expect(sockets).toHaveLength(2);
  pass(5_000);
  expect(states.at(-1)).toMatchObject({ kind: 'reconnecting', attempt: 2 });
});

test('[SW6] without a network it says so, and tries all the same', () => {
  const { world, socket, sockets, states, pass, wake } = setupConnected();
  world.online = false;
  socket.lose();
  expect(states.at(-1)).toEqual({ kind: 'offline' });
  wake();
  expect(sockets).toHaveLength(2);
  sockets[1]?.lose();
  expect(states.at(-1)).toEqual({ kind: 'offline' });
  pass(30_000);
  expect(sockets).toHaveLength(3);
});

test('[SW7] closed for being slow, it asks for a snapshot', () => {
  const { socket, sockets, pass } = setupConnected();
  socket.lose(4013);
  pass(30_000);
  sockets[1]?.open();
  expect(sockets[1]?.sent).toEqual([{ type: 'watch', changes: true }]);
});

test('[SW8] signed out by close code, it stops for good', () => {
  const { socket, sockets, states, pass, wake } = setupConnected();
  socket.lose(4401);
  pass(600_000);
  wake();
  expect(states.at(-1)).toEqual({ kind: 'refused' });
  expect(sockets).toHaveLength(1);
});

test('[SW8] when a socket does not open it asks whether it is signed out', async () => {
  const { socket, sockets, states, pass } = setupFeed({ access: false });
  socket.lose();
  await expect.poll(() => states.at(-1)).toEqual({ kind: 'refused' });
  pass(600_000);
  expect(sockets).toHaveLength(1);
});

test('[SW9] a gap is mended by a snapshot, and not more often than every ten seconds', () => {
  const { world, socket, frame, pass } = setupConnected();
  world.gap = true;
  for (const seq of [11, 12, 13]) {
    socket.receive(event(seq));
    frame();
  }
  expect(socket.sent).toEqual([{ ...WATCH, parts: true }, WATCH]);
  for (const [seq, sent] of [
    [14, 2],
    [15, 3],
  ] as const) {
    pass(5_000);
    socket.receive(event(seq));
    frame();
    expect(socket.sent).toHaveLength(sent);
  }
});

test('[SW10] after a reconnect it tells how many events were missed', () => {
  const { socket, sockets, caughtUp, pass } = setupConnected();
  expect(caughtUp).toEqual([]);
  socket.lose();
  pass(500);
  sockets[1]?.open();
  sockets[1]?.receive({ type: 'batch', events: [event(10), event(11), event(12)] });
  pass(1_000);
  sockets[1]?.receive(event(13));
  pass(5_000);
  expect(caughtUp).toEqual([2]);
});

test('[SW10] or that a snapshot came in their place', () => {
  const { socket, sockets, caughtUp, pass } = setupConnected();
  socket.lose();
  pass(500);
  sockets[1]?.open();
  sockets[1]?.receive(snapshot(50));
  sockets[1]?.receive(event(51));
  pass(1_000);
  expect(caughtUp).toEqual([null]);
});

test.each([
  ['no JSON', '{'],
  ['bytes', new ArrayBuffer(2)],
  ['no kind', '{"seq":11}'],
  ['an unknown kind', '{"type":"party","seq":11}'],
  ['a batch with nonsense in it', '{"type":"batch","events":[{"type":"call","seq":11}]}'],
  ['a snapshot without calls', '{"type":"snapshot","seq":11}'],
])('[SW11] a frame of %s is reported and changes nothing', (_, frame) => {
  const { socket, handed, problems, frame: draw } = setupConnected();
  socket.receiveRaw(frame);
  draw();
  expect(handed).toEqual([]);
  expect(problems).toHaveLength(1);
});

test('[SW11] a complaint of the server is reported', () => {
  const { socket, problems } = setupConnected();
  socket.receive({ type: 'error', code: 'bad_message', message: 'What is this?' });
  expect(problems).toEqual(['bad_message: What is this?']);
});

test('[SW12] closed, it does nothing more', () => {
  const { feed, socket, sockets, states, handed, frame, pass, wake } = setupConnected();
  socket.receive(event(11));
  feed.close();
  feed.close();
  const published = states.length;
  frame();
  socket.lose();
  pass(600_000);
  wake();
  feed.retryNow();
  expect(socket.closedWith).toBe(1000);
  expect(handed).toEqual([]);
  expect(sockets).toHaveLength(1);
  expect(states).toHaveLength(published);
});

test('[SW12] closed while it waits, it does not come back', () => {
  const { feed, socket, sockets, pass, wake } = setupFeed();
  socket.lose();
  feed.close();
  pass(600_000);
  wake();
  feed.retryNow();
  expect(sockets).toHaveLength(1);
});

function setupFrames() {
  const frames: (() => void)[] = [];
  const timers: (() => void)[] = [];
  let runs = 0;
  const schedule = createFrameScheduler({
    requestFrame: (run) => frames.push(run),
    schedule: (_, fire) => {
      timers.push(fire);
      return () => {};
    },
  });
  schedule(() => {
    runs += 1;
  });
  return { draw: () => frames.pop()?.(), wait: () => timers.pop()?.(), runs: () => runs };
}

test('[SW13] it runs at the next frame, and not a second time when the wait is over', () => {
  const { draw, wait, runs } = setupFrames();
  draw();
  expect(runs()).toBe(1);
  wait();
  expect(runs()).toBe(1);
});

test('[SW13] where no frame is drawn it runs when the wait is over', () => {
  const { draw, wait, runs } = setupFrames();
  wait();
  expect(runs()).toBe(1);
  draw();
  expect(runs()).toBe(1);
});
