import { expect, test } from 'vitest';
import { createTestStore } from './agent/testing/fakes.ts';
import { answering, folded, setupRuns, type Turn } from './testing/setup-runs.ts';

/** An answer has begun, and its turn waits at the gate. */
async function begun(words: string[]) {
  const gate = Promise.withResolvers<void>();
  const runs = setupRuns({ turn: answering(words, gate.promise) });
  const run = await runs.start();
  await runs.bus.until(
    (event) =>
      event.type === 'message' &&
      event.message.role === 'assistant' &&
      event.message.parts.length > 0,
  );
  return { ...runs, gate, run };
}

test('[RU6] pieces of one moment are one delta, the next 34 ms later', async () => {
  const { gate, run, ended, bus, clock } = await begun(['a', 'b', '.']);
  clock.advance(33);
  expect(bus.events.filter(({ type }) => type === 'message_delta')).toEqual([]);
  clock.advance(1);
  expect(bus.events.at(-1)).toMatchObject({
    type: 'message_delta',
    index: 0,
    part: 'text',
    delta: 'b.',
  });
  gate.resolve();
  await ended(run.run_id);
});

test('[RU6] no letter is lost or told twice, however parts follow each other', async () => {
  const gate = Promise.withResolvers<void>();
  const turn: Turn = async ({ transcript }) => {
    const writer = await transcript.beginMessage();
    writer.append('reasoning', 'r1');
    writer.append('reasoning', 'r2');
    writer.append('text', 't1');
    writer.append('text', '');
    writer.append('text', 't2');
    writer.addCall('tc_1');
    writer.append('text', 't3');
    await gate.promise;
    writer.append('text', 't4');
    await writer.end();
    return { status: 'idle' };
  };
  const { start, ended, bus, clock, runs } = setupRuns({ turn });
  const run = await start();
  clock.advance(1_000);
  gate.resolve();
  await ended(run.run_id);
  const last = (await runs.get(run.run_id))?.messages.at(-1);
  expect(last?.parts).toEqual([
    { type: 'reasoning', text: 'r1r2' },
    { type: 'text', text: 't1t2' },
    { type: 'tool_call', tool_call_id: 'tc_1' },
    { type: 'text', text: 't3t4' },
  ]);
  expect(folded(bus.events, last?.message_id ?? '')).toBe('r1r2t1t2t3t4');
});

test('[RU7] a snapshot in mid-sentence fits the delta that follows', async () => {
  const { gate, run, ended, bus, clock, runs } = await begun(['one ', 'two ', 'five.']);
  const [snapshot] = await runs.watched(run.run_id);
  const seq = bus.seq;
  clock.advance(34);
  const assistant = snapshot?.messages.at(-1);
  const later = bus.events.filter((event) => event.seq > seq && event.type === 'message_delta');
  const text = assistant?.parts.map((part) => ('text' in part ? part.text : '')).join('');
  expect(text).toBe('one ');
  expect(text + folded(later, assistant?.message_id ?? '')).toBe('one two five.');
  gate.resolve();
  await ended(run.run_id);
});

test('[RU7] a snapshot tells the newest runs, oldest first, running ones with what they say', async () => {
  const { runs, start, ended, clock } = setupRuns({ turn: answering(['hi']) });
  for (const input of ['first', 'second', 'third']) {
    clock.advance(1_000);
    await ended((await start(input)).run_id);
  }
  const watched = await runs.watched();
  expect(watched.map(({ title, messages }) => [title, messages.length])).toEqual([
    ['first', 2],
    ['second', 2],
    ['third', 2],
  ]);
});

test('[RU8] a finished message is on disk before it is told as done', async () => {
  const store = createTestStore();
  const { start, bus } = setupRuns({ store, turn: answering(['hi']) });
  const published = bus.until((event) => {
    if (
      event.type !== 'message' ||
      event.message.role !== 'assistant' ||
      event.message.status !== 'done'
    )
      return false;
    const written = store.writes.flat().filter((change) => change.type === 'put_message');
    expect(written.at(-1)).toMatchObject({ position: 1, message: event.message });
    return true;
  });
  await start();
  await published;
});

test('[RU8] a notice and a state of the run are on disk before anybody is shown them', async () => {
  const store = createTestStore();
  const gate = Promise.withResolvers<void>();
  const slow = {
    ...store,
    async write(changes: Parameters<typeof store.write>[0]) {
      const text = JSON.stringify(changes);
      if (text.includes('"notice"') || text.includes('"cancelled"')) await gate.promise;
      return store.write(changes);
    },
  };
  const { start, bus, runs } = setupRuns({
    store: slow,
    turn: async ({ transcript }) => {
      const writer = await transcript.beginMessage();
      writer.append('text', 'Half a');
      writer.addNotice({ code: 'cancelled', text: 'Stopped.' });
      await writer.end();
      return { status: 'cancelled' };
    },
  });
  const { run_id } = await start();
  const shown = async () => JSON.stringify([await runs.get(run_id), bus.events]);
  expect(await shown()).not.toContain('Stopped.');
  expect((await runs.get(run_id))?.messages.at(-1)?.status).toBe('streaming');
  gate.resolve();
  await bus.until((event) => event.type === 'run' && event.run.status === 'cancelled');
  expect(await shown()).toContain('Stopped.');
  expect((await runs.get(run_id))?.messages.at(-1)?.parts).toMatchObject([
    { type: 'text', text: 'Half a' },
    { type: 'notice', code: 'cancelled' },
  ]);
});
