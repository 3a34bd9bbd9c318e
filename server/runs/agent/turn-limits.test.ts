import { expect, test } from 'vitest';
import { changed } from '#lib/call/testing/sample-call';
import { LIMITS } from '#lib/protocol/limits';
import type { Script } from '../../testing/scripted-openai.ts';
import { type FakeTool, systemClock } from './testing/fakes.ts';
import { echo, inOrder, notices, partsOf, setupTurns, texts } from './testing/setup-turns.ts';

/** Calls `name` with these arguments as long as it may call anything. */
const again =
  (
    name: string,
    argsOf: (index: number) => Record<string, unknown> = () => ({ text: 'x' }),
  ): Script =>
  ({ toolNames, index }) =>
    toolNames.length > 0 ? { calls: [{ name, args: argsOf(index) }] } : { text: 'I had to stop.' };

/** `demo.echo` that counts how often it was run. */
function counted(tool: FakeTool = echo) {
  let count = 0;
  const run: FakeTool['run'] = (args, signal) => {
    count += 1;
    return tool.run(args, signal);
  };
  return { tool: { ...tool, run }, count: () => count };
}

test('[AL120] E7: a call with the same result is run three times, refused twice, and ends the turn', async () => {
  const { tool, count } = counted();
  const { turn, openai, calls } = await setupTurns({ script: again('demo_echo'), tools: [tool] });
  const run = await turn('loop');
  expect(count()).toBe(3);
  expect([...calls.records.values()].map(({ error }) => error?.reason)).toEqual([
    ...[undefined, undefined, undefined],
    ...['repeated_call', 'repeated_call'],
  ]);
  expect([...calls.records.values()].at(-1)?.error).toMatchObject({
    code: 'denied',
    executed: 'no',
  });
  expect(openai.requests).toHaveLength(6);
  expect(notices(partsOf(run))).toEqual(['repeated_calls']);
  expect(texts(partsOf(run)).at(-1)).toBe('I had to stop.');
  expect(run.status).toBe('idle');
});

test('[AL120] the model reads that it repeats itself before the call is refused', async () => {
  const { turn, openai } = await setupTurns({ script: again('demo_echo'), tools: [echo] });
  await turn('loop');
  const warned = openai.requests.map(({ body }) =>
    JSON.stringify(body).includes('the result was the same each time'),
  );
  expect(warned).toEqual([false, false, false, true, true, false]);
  expect(JSON.stringify(openai.requests[4]?.body)).toContain('was not run again');
});

test('[AL120] the order of keys makes no other call', async () => {
  const { tool, count } = counted();
  const orders = [
    { text: 'x', b: 1 },
    { b: 1, text: 'x' },
  ];
  const script = again('demo_echo', (index) => orders[index % 2] ?? {});
  const { turn } = await setupTurns({ script, tools: [tool] });
  await turn('loop');
  expect(count()).toBe(3);
});

test('[AL120] other arguments, and a result that changes, are no repeats', async () => {
  let ticks = 0;
  const ticking: FakeTool = { name: 'demo.tick', run: () => ({ output: ++ticks }) };
  const { turn } = await setupTurns({ script: again('demo_tick'), tools: [ticking] });
  expect(notices(partsOf(await turn('loop')))).toEqual(['step_limit']);
  expect(ticks).toBe(10);

  const script = again('demo_echo', (index) => ({ text: String(index) }));
  const other = await setupTurns({ script, tools: [echo] });
  expect(notices(partsOf(await other.turn('loop')))).toEqual(['step_limit']);
});

test('[AL120] another result begins the count anew', async () => {
  let runs = 0;
  const tool: FakeTool = {
    name: 'demo.echo',
    run: () => ({ output: ++runs === 3 ? 'other' : 'same' }),
  };
  const { turn } = await setupTurns({ script: again('demo_echo'), tools: [tool] });
  await turn('loop');
  // same, same, other, then three times the same.
  expect(runs).toBe(6);
});

test('[AL120] a tool that is polled may give the same result as often as there are steps', async () => {
  const { tool, count } = counted();
  const { turn } = await setupTurns({
    script: again('demo_echo'),
    tools: [tool],
    agent: { isPolling: (name) => name === 'demo.echo' },
  });
  expect(notices(partsOf(await turn('wait for it')))).toEqual(['step_limit']);
  expect(count()).toBe(10);
});

test('[AL120] equal calls of one step end no turn before the model has read that they are', async () => {
  const { tool, count } = counted();
  const call = { name: 'demo_echo', args: { text: 'x' } };
  const script = inOrder({ calls: Array.from({ length: 5 }, () => call) }, { calls: [call] });
  const { turn, openai } = await setupTurns({ script, tools: [tool] });
  const run = await turn('five at once');
  expect(count()).toBe(5);
  expect(openai.requests.map(({ toolNames }) => toolNames.length)).toEqual([1, 1, 0]);
  expect(JSON.stringify(openai.requests[1]?.body)).toContain('the result was the same each time');
  expect(notices(partsOf(run))).toEqual(['repeated_calls']);
});

test('[AL120] a call whose arguments are repaired each time is the same call', async () => {
  let runs = 0;
  const counts: FakeTool = {
    name: 'demo.echo',
    run: () => {
      const record = [...made.calls.records.values()].at(-1);
      // As the schema repairs it.
      if (record) made.calls.put({ ...record, args: { count: 5 } });
      runs += 1;
      return { output: 'same' };
    },
  };
  const script = again('demo_echo', () => ({ count: '5' }));
  const made: Awaited<ReturnType<typeof setupTurns>> = await setupTurns({
    script,
    tools: [counts],
  });
  const run = await made.turn('loop');
  expect(runs).toBe(3);
  expect(notices(partsOf(run))).toEqual(['repeated_calls']);
  expect(made.openai.requests).toHaveLength(6);
});

test.each([
  ['nested too deeply', `{"text": ${'['.repeat(300)}${']'.repeat(300)}}`],
  ['larger than', JSON.stringify({ text: 'x'.repeat(LIMITS.argsBytes) })],
])('[AL120] arguments that cannot be taken (%s) are refused, not compared', async (why, args) => {
  const call = { calls: [{ name: 'demo_echo', args }], pieceChars: 16_000 };
  const script = inOrder(call, { text: 'Sorry.' });
  const { turn, calls } = await setupTurns({ script, tools: [echo] });
  expect((await turn('deep')).error).toBe(null);
  expect(calls.records.get('tc_1')).toMatchObject({
    status: 'FAILED',
    error: { message: expect.stringContaining(why) },
  });
});

const timingOut = (given: {
  calls: () => Awaited<ReturnType<typeof setupTurns>>['calls'];
}): FakeTool => ({
  name: 'demo.slow',
  run: () => {
    const record = [...given.calls().records.values()].at(-1);
    const error = { code: 'timeout', message: 'Too slow.', executed: 'unknown' } as const;
    if (record) given.calls().put(changed(record, { status: 'TIMEOUT', phase: null, error }));
    return { output: null };
  },
});

test('[AL121] three timeouts of one tool in a row end the turn, and the model is not asked again', async () => {
  const script = again('demo_slow', (index) => ({ text: String(index) }));
  const made: Awaited<ReturnType<typeof setupTurns>> = await setupTurns({
    script,
    tools: [timingOut({ calls: () => made.calls })],
  });
  const run = await made.turn('slow');
  expect(made.openai.requests).toHaveLength(3);
  expect(notices(partsOf(run))).toEqual(['tool_timeouts']);
  expect(run.status).toBe('idle');
});

test('[AL121] a result in between begins the count anew', async () => {
  const script = again('demo_slow', (index) => ({ text: String(index) }));
  let runs = 0;
  const slow = timingOut({ calls: () => made.calls });
  const made: Awaited<ReturnType<typeof setupTurns>> = await setupTurns({
    script,
    tools: [
      { ...slow, run: (args, signal) => (++runs === 3 ? { output: 1 } : slow.run(args, signal)) },
    ],
  });
  await made.turn('slow');
  // Two timeouts, a result, three timeouts.
  expect(made.openai.requests).toHaveLength(6);
});

test('[AL122] an empty answer is asked for again, and the model reads why', async () => {
  const script = inOrder({ text: '' }, { text: ' \n' }, { text: 'Here I am.' });
  const { turn, openai } = await setupTurns({ script });
  const run = await turn('Hi');
  expect(openai.requests).toHaveLength(3);
  expect(JSON.stringify(openai.requests[0]?.body)).not.toContain('last answer was empty');
  expect(JSON.stringify(openai.requests[1]?.body)).toContain('last answer was empty');
  expect(texts(partsOf(run)).at(-1)).toBe('Here I am.');
  expect(notices(partsOf(run))).toEqual([]);
});

test('[AL122] the third empty answer in a row ends the turn with a notice', async () => {
  const { turn, openai } = await setupTurns({ script: () => ({ text: '' }) });
  const run = await turn('Hi');
  expect(openai.requests).toHaveLength(3);
  expect(notices(partsOf(run))).toEqual(['empty_answers']);
  expect(run.status).toBe('idle');
});

test('[AL122] an empty answer that was cut at the limit of output is not asked for again', async () => {
  const { turn, openai } = await setupTurns({
    script: () => ({ text: '', finishReason: 'length' as const }),
  });
  expect(notices(partsOf(await turn('Hi')))).toEqual(['answer_cut']);
  expect(openai.requests).toHaveLength(1);
});

test('[AL123] T117: a turn that has made its calls has one last answer without tools', async () => {
  const { turn, openai } = await setupTurns({
    script: again('demo_echo', (index) => ({ text: String(index) })),
    tools: [echo],
    agent: { budget: { seconds: null, calls: 2, tokens: null } },
  });
  const run = await turn('loop');
  expect(openai.requests).toHaveLength(3);
  expect(JSON.stringify(openai.requests[2]?.body)).toContain('limit of 2 calls');
  expect(notices(partsOf(run))).toEqual(['budget_calls']);
});

test('[AL123] of the calls of one step those over the limit are not run', async () => {
  const made: string[] = [];
  const run: FakeTool['run'] = ({ text }) => {
    made.push(String(text));
    return { output: text };
  };
  const call = (text: string) => ({ name: 'demo_echo', args: { text } });
  const { turn, calls } = await setupTurns({
    script: inOrder({ calls: [call('a'), call('b'), call('c')] }, { text: 'Done.' }),
    tools: [{ ...echo, run }],
    agent: { budget: { seconds: null, calls: 2, tokens: null } },
  });
  await turn('go');
  expect(made).toEqual(['a', 'b']);
  expect([...calls.records.values()].at(-1)?.error).toMatchObject({
    ...{ code: 'denied', reason: 'too_many_calls', executed: 'no' },
  });
});

test('[AL123] tokens of all its requests count', async () => {
  const usage = { input: 60, output: 40, reasoning: 0, cached: 0 };
  const script: Script = (request) => ({
    ...again('demo_echo', (index) => ({ text: String(index) }))(request),
    usage,
  });
  const { turn, openai } = await setupTurns({
    script,
    tools: [echo],
    agent: { budget: { seconds: null, calls: null, tokens: 200 } },
  });
  expect(notices(partsOf(await turn('loop')))).toEqual(['budget_tokens']);
  expect(openai.requests).toHaveLength(3);
});

test('[AL123] the time runs from the person’s message', async () => {
  let later = 0;
  const run: FakeTool['run'] = (args, signal) => {
    later += 40_000;
    return echo.run(args, signal);
  };
  const { turn, openai } = await setupTurns({
    script: again('demo_echo', (index) => ({ text: String(index) })),
    tools: [{ ...echo, run }],
    agent: {
      clock: { ...systemClock, now: () => systemClock.now() + later },
      budget: { seconds: 60, calls: null, tokens: null },
    },
  });
  expect(notices(partsOf(await turn('loop')))).toEqual(['budget_seconds']);
  expect(openai.requests).toHaveLength(3);
});

test('[AL123] tokens count anew from a message that came meanwhile', async () => {
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const held: FakeTool = {
    name: 'demo.echo',
    run: async () => {
      begun.resolve();
      await end.promise;
      return { output: 'echoed' };
    },
  };
  const usage = { input: 60, output: 40, reasoning: 0, cached: 0 };
  const script: Script = ({ index }) =>
    index < 2 ? { calls: [{ name: 'demo_echo', args: { index } }], usage } : { text: 'ok', usage };
  const { start, ended, runs, openai } = await setupTurns({
    script,
    tools: [held],
    agent: { budget: { seconds: null, calls: null, tokens: 150 } },
  });
  const runId = await start('One');
  await begun.promise;
  await runs.send(runId, { input: 'Two' });
  end.resolve();
  // The second request is the first one of the new message, so that a third one may call as well.
  await ended(runId);
  expect(openai.requests.map(({ toolNames }) => toolNames.length > 0)).toEqual([true, true, true]);
});
