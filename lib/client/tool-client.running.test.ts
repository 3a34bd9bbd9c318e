import { expect, test } from 'vitest';
import { journalEntry } from './journal.contract.ts';
import { createMemoryJournal } from './journal.ts';
import { setupCalls, types } from './testing/setup-calls.ts';
import { callTool, createHeldTool, granted, request } from './testing/setup-client.ts';

test('[CL8] a program frozen between claim and grant does not run late', async () => {
  const { link, tool, clock } = await setupCalls();
  link.send(request('tc_1'));
  await link.next('tool_call_claim');
  clock.freeze(31_000);
  link.send(granted('tc_1'));
  expect(await link.next('tool_error')).toMatchObject({ id: 'tc_1', code: 'timeout' });
  expect(tool.started).toEqual([]);
});

test('[CL8] a program frozen while the journal writes does not run late', async () => {
  const journal = createMemoryJournal({ epoch: 'e' });
  const freeze = { now: () => {} };
  const rig = await setupCalls(createHeldTool(), {
    openJournal: async () => ({
      ...journal,
      async put(entry) {
        await journal.put(entry);
        freeze.now();
      },
    }),
  });
  freeze.now = () => rig.clock.freeze(31_000);
  await callTool(rig.link, 'tc_1');
  expect(await rig.link.next('tool_error')).toMatchObject({ code: 'timeout' });
  expect(rig.tool.started).toEqual([]);
});

test('[CL9] one call at a time: the next is claimed when the first has ended', async () => {
  const { link, tool } = await setupCalls();
  link.send(request('tc_1'));
  link.send(request('tc_2'));
  await link.next('tool_call_claim');
  link.send(granted('tc_1'));
  expect(types(await link.settled()).filter((type) => type === 'tool_call_claim')).toHaveLength(1);
  tool.end('tc_1', 1);
  expect(await link.next('tool_call_claim')).toMatchObject({ id: 'tc_2' });
});

test('[CL9] a call refused or cancelled while it waits makes room for the next', async () => {
  const { link } = await setupCalls();
  for (const id of ['tc_1', 'tc_2', 'tc_3']) link.send(request(id));
  await link.next('tool_call_claim');
  link.send({ type: 'tool_call_cancel', id: 'tc_2', reason: 'by the operator' });
  link.send({ type: 'tool_call_refused', id: 'tc_1', attempt: 1, reason: 'taken' });
  expect(await link.next('tool_call_claim')).toMatchObject({ id: 'tc_3' });
});

test('[CL10] a cancel aborts the signal with its reason', async () => {
  const { link, tool } = await setupCalls();
  await callTool(link, 'tc_1');
  await link.settled();
  link.send({ type: 'tool_call_cancel', id: 'tc_1', reason: 'by the operator' });
  expect(await link.next('tool_error')).toMatchObject({
    code: 'cancelled',
    error: 'by the operator',
  });
  expect(tool.signals.get('tc_1')?.aborted).toBe(true);
});

test('[CL10] a call cancelled between claim and grant never runs', async () => {
  const { link, tool } = await setupCalls();
  link.send(request('tc_1'));
  await link.next('tool_call_claim');
  link.send({ type: 'tool_call_cancel', id: 'tc_1', reason: 'by the operator' });
  link.send(granted('tc_1'));
  expect(await link.next('tool_error')).toMatchObject({ code: 'cancelled' });
  expect(tool.started).toEqual([]);
});

test('[CL10] when the time is over the signal aborts, also without a connection', async () => {
  const rig = await setupCalls();
  const { link, tool, clock } = rig;
  await callTool(link, 'tc_1', {}, { remaining_ms: 10_000 });
  await link.settled();
  clock.advance(9_000);
  const { back } = await rig.reconnect(link);
  expect(tool.signals.get('tc_1')?.aborted).toBe(false);
  clock.advance(500);
  expect(tool.signals.get('tc_1')?.aborted).toBe(true);
  expect(await back.next('tool_error')).toMatchObject({ code: 'timeout' });
});

test('[CL10] while a person is asked the card says so and the clock stands still', async () => {
  const person = Promise.withResolvers<string>();
  const signals: AbortSignal[] = [];
  const asking = createHeldTool({
    async run(_args, context) {
      signals.push(context.signal);
      return { output: await context.askDevice(() => person.promise) };
    },
  });
  const rig = await setupCalls(asking);
  const { link, clock } = rig;
  await callTool(link, 'tc_1', {}, { remaining_ms: 10_000 });
  expect(await link.next('tool_status')).toMatchObject({ id: 'tc_1', attempt: 1, phase: 'device' });
  clock.advance(60_000);
  const { back } = await rig.reconnect(link);
  expect(await back.next('tool_status')).toMatchObject({ phase: 'device' });
  expect(signals[0]?.aborted).toBe(false);
  person.resolve('yes');
  expect(await back.next('tool_status')).toMatchObject({ phase: 'granted' });
  expect(await back.next('tool_result')).toMatchObject({ output: 'yes' });
});

test('[CL10] a cancel ends the asking too', async () => {
  const asking = createHeldTool({
    run: async (_args, context) => ({
      output: await context.askDevice(() => new Promise(() => {})),
    }),
  });
  const { link } = await setupCalls(asking);
  await callTool(link, 'tc_1');
  await link.next('tool_status');
  link.send({ type: 'tool_call_cancel', id: 'tc_1', reason: 'enough' });
  expect(await link.next('tool_error')).toMatchObject({ code: 'cancelled', error: 'enough' });
});

test('[CL13] news go out before the answer, the last word included', async () => {
  const talking = createHeldTool({
    run(_args, context) {
      for (let done = 0; done <= 100; done += 1) context.status({ progress: { done, total: 100 } });
      return { output: 'open' };
    },
  });
  const { link } = await setupCalls(talking);
  await callTool(link, 'tc_1');
  await link.next('tool_result');
  const sent = link.all.filter(({ type }) => type === 'tool_status' || type === 'tool_result');
  expect(sent).toMatchObject([
    { progress: { done: 0 } },
    { progress: { done: 100 } },
    { type: 'tool_result' },
  ]);
});

test.each([
  ['an error', new Error('no hinges'), 'internal', 'The tool failed: no hinges'],
  ['a text', 'stuck', 'internal', 'The tool failed: stuck'],
])('%s that a tool throws is told', async (_, thrown, code, error) => {
  const failing = createHeldTool({
    run() {
      throw thrown;
    },
  });
  const { link } = await setupCalls(failing);
  await callTool(link, 'tc_1');
  expect(await link.next('tool_error')).toEqual({
    type: 'tool_error',
    id: 'tc_1',
    attempt: 1,
    success: false,
    code,
    error,
  });
});

test('a call for a tool that is gone fails as unavailable', async () => {
  const { link, client } = await setupCalls();
  client.unregister('door.open');
  await callTool(link, 'tc_1');
  expect(await link.next('tool_error')).toMatchObject({ code: 'unavailable' });
});

test('[CL15] a superseded page aborts its calls and writes nothing into the old journal', async () => {
  const { link, tool, journals } = await setupCalls();
  await callTool(link, 'tc_1');
  await link.settled();
  const signal = tool.signals.get('tc_1');
  link.close(4010);
  await new Promise((resolve) => signal?.addEventListener('abort', resolve));
  await link.closed;
  expect(await journals[0]?.entries()).toEqual([journalEntry('tc_1')]);
});

test('a stop aborts what runs and keeps the answer for the next start', async () => {
  const journal = createMemoryJournal({ epoch: 'e' });
  const rig = await setupCalls(createHeldTool(), { openJournal: async () => journal });
  await callTool(rig.link, 'tc_1');
  await rig.link.settled();
  await rig.client.stop();
  expect(await journal.entries()).toMatchObject([{ id: 'tc_1', answer: { code: 'cancelled' } }]);
});
