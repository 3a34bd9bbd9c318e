import { expect, test } from 'vitest';
import type { Message } from '#lib/protocol/run';
import type { Script } from '../testing/scripted-openai.ts';
import { createTestStore, type FakeTool, type TestStore } from './agent/testing/fakes.ts';
import { gate, inOrder, notices, partsOf, setupTurns, texts } from './agent/testing/setup-turns.ts';
import { answering, setupRuns, untilStopped } from './testing/setup-runs.ts';

/** `demo.echo` that the test lets end. */
function heldTool() {
  const begun = gate();
  const end = gate();
  const tool: FakeTool = {
    name: 'demo.echo',
    async run() {
      begun.resolve();
      await end.promise;
      return { output: 'echoed' };
    },
  };
  return { tool, begun: begun.promise, end: end.resolve };
}

const shape = ({ messages }: { messages: readonly Message[] }) =>
  messages.map(({ role, parts }) => [role, ...parts.map((part) => part.type)]);

const conversationOf = (body: unknown) => JSON.stringify(body);

test('[RU33] a message while a tool runs is read with its result, in the next step', async () => {
  const { tool, begun, end } = heldTool();
  const script = inOrder({ calls: [{ name: 'demo_echo', args: {} }] }, { text: 'As you wish.' });
  const { start, ended, runs, openai } = await setupTurns({ script, tools: [tool] });
  const runId = await start('Do A');
  await begun;
  expect(await runs.send(runId, { input: 'Rather B' })).toMatchObject({
    ok: true,
    run: { status: 'running' },
  });
  end();
  const run = await ended(runId);
  expect(shape(run)).toEqual([
    ['user', 'text'],
    ['assistant', 'tool_call'],
    ['user', 'text'],
    ['assistant', 'text'],
  ]);
  expect(openai.requests).toHaveLength(2);
  const sent = conversationOf(openai.requests[1]?.body);
  expect(sent.indexOf('echoed')).toBeGreaterThan(sent.indexOf('Do A'));
  expect(sent.indexOf('Rather B')).toBeGreaterThan(sent.indexOf('echoed'));
});

test('[RU33] a message while the model answers begins the next turn at once', async () => {
  const rest = gate();
  const script = inOrder(
    { text: 'First answer', stall: { at: 3, until: rest.promise } },
    { text: 'Second answer' },
  );
  const { start, ended, runs, openai, bus } = await setupTurns({ script });
  const runId = await start('One');
  await bus.until((event) => event.type === 'message' && event.message.parts.length > 0);
  await runs.send(runId, { input: 'Two' });
  rest.resolve();
  const run = await ended(runId);
  expect(texts(partsOf(run))).toEqual(['One', 'First answer', 'Two', 'Second answer']);
  const sent = conversationOf(openai.requests[1]?.body);
  expect(sent.indexOf('First answer')).toBeGreaterThan(0);
  expect(sent.indexOf('Two')).toBeGreaterThan(sent.indexOf('First answer'));
});

test('[RU33] limits count from a message that came meanwhile', async () => {
  const { tool, begun, end } = heldTool();
  const script: Script = ({ toolNames, index }) =>
    toolNames.length > 0 && index < 3
      ? { calls: [{ name: 'demo_echo', args: { index } }] }
      : { text: 'done' };
  const { start, ended, runs } = await setupTurns({
    script,
    tools: [tool],
    agent: { maxSteps: 2 },
  });
  const runId = await start('One');
  await begun;
  await runs.send(runId, { input: 'Two' });
  end();
  // One step, the message, two steps, the last answer.
  const run = await ended(runId);
  expect(shape(run).filter((parts) => parts.includes('tool_call'))).toHaveLength(3);
  expect(notices(partsOf(run))).toEqual(['step_limit']);
});

/** A store that keeps back the first write that fits, until the test lets it go. */
function holding(fits: (changes: Parameters<TestStore['write']>[0]) => boolean) {
  const store = createTestStore();
  const held = gate();
  const free = gate();
  let isHeld = false;
  return {
    store: {
      ...store,
      async write(changes: Parameters<TestStore['write']>[0]) {
        if (!isHeld && fits(changes)) {
          isHeld = true;
          held.resolve();
          await free.promise;
        }
        await store.write(changes);
      },
    },
    held: held.promise,
    free: free.resolve,
  };
}

test('[RU33] a message that is on its way to the disk at the end of the turn begins the next', async () => {
  const slow = holding((changes) =>
    changes.some(
      (one) => one.type === 'put_message' && JSON.stringify(one.message).includes('Two'),
    ),
  );
  const end = gate();
  const { runs, start, ended, turns } = setupRuns({
    turn: answering(['Hello'], end.promise),
    store: slow.store,
  });
  const { run_id } = await start();
  const sent = runs.send(run_id, { input: 'Two' });
  await slow.held;
  const over = ended(run_id);
  end.resolve();
  slow.free();
  expect(await sent).toMatchObject({ ok: true });
  await over;
  expect(turns).toHaveLength(2);
  expect((await runs.get(run_id))?.messages.map(({ role }) => role).slice(-2)).toEqual([
    'user',
    'assistant',
  ]);
});

test('[RU33] a message that comes while the end of the turn is written begins the next', async () => {
  const slow = holding((changes) =>
    changes.some((one) => one.type === 'put_run' && one.run.status === 'idle'),
  );
  const { runs, start, ended, turns } = setupRuns({
    turn: answering(['Hello']),
    store: slow.store,
  });
  const { run_id } = await start();
  await slow.held;
  const sent = runs.send(run_id, { input: 'Two' });
  slow.free();
  expect(await sent).toMatchObject({ ok: true });
  if (turns.length < 2 || (await runs.get(run_id))?.status === 'running') await ended(run_id);
  await expect.poll(async () => (await runs.get(run_id))?.status).toBe('idle');
  expect(turns).toHaveLength(2);
  expect((await runs.get(run_id))?.messages.at(-1)?.role).toBe('assistant');
});

test('[RU33] at most 32 messages wait, also of those that come at once', async () => {
  const { runs, start } = setupRuns({ turn: untilStopped });
  const { run_id } = await start();
  const sent = await Promise.all(
    Array.from({ length: 40 }, (_, index) => runs.send(run_id, { input: `m${index}` })),
  );
  // The first message of the run waits as well: its turn has not read it.
  expect(sent.filter(({ ok }) => ok)).toHaveLength(31);
  expect(sent.at(-1)).toMatchObject({ ok: false, code: 'conflict' });
});

test('[RU33] while the turn is being stopped a message is refused', async () => {
  const over = gate();
  const { runs, start } = setupRuns({
    turn: async ({ signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      await over.promise;
      return { status: 'cancelled' };
    },
  });
  const { run_id } = await start();
  const stopped = runs.cancel(run_id);
  expect(await runs.send(run_id, { input: 'Two' })).toMatchObject({ ok: false, code: 'conflict' });
  over.resolve();
  await stopped;
  expect(await runs.send(run_id, { input: 'Two' })).toMatchObject({ ok: true });
});

test('[RU33] a message that was accepted is there after a restart, and is read', async () => {
  const store = createTestStore();
  const before = setupRuns({ turn: untilStopped, store });
  const { run_id } = await before.start();
  await before.runs.send(run_id, { input: 'Two' });
  await before.runs.close();
  const { runs, clock, turns, ended } = setupRuns({ turn: answering(['Both']), store });
  const over = ended(run_id);
  await runs.recover();
  await expect
    .poll(() => {
      clock.advance(3_000);
      return turns.length;
    })
    .toBe(1);
  await over;
  const run = await runs.get(run_id);
  expect(run?.messages.flatMap(({ parts }) => texts(parts))).toEqual(['Hello', 'Two', 'Both']);
});
