import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { defineTool, type ToolContext, ToolError } from './define-tool.ts';
import { toProvidedTool } from './own-tools.ts';
import { runBuiltin } from './testing/run-builtin.ts';

const facts = {
  name: 'demo.tool',
  displayName: 'Demo',
  description: 'Does something',
  args: z.object({ n: z.number().default(1) }),
  effect: 'write',
  timeoutMs: 1_000,
} as const;

/** Runs that end when the test says so. */
function createHeldRuns() {
  const begun: { end(): void; readonly n: number }[] = [];
  const run = ({ n }: { n: number }) =>
    new Promise<{ output: number }>((resolve) =>
      begun.push({ n, end: () => resolve({ output: n }) }),
    );
  return { begun, run };
}

test('[TD1] run has the arguments as the schema makes them, and its output is the result', async () => {
  const tool = defineTool({ ...facts, run: async ({ n }) => ({ output: n + 1 }) });
  expect(await runBuiltin(tool, {})).toBe(2);
});

test('[TD2] an output that does not fit is a failed call, and one that does is as the schema makes it', async () => {
  const output = z.object({ sum: z.number() });
  const given = (sum: unknown) =>
    defineTool({ ...facts, output, run: async () => ({ output: { sum, secret: 'x' } }) });
  expect(await runBuiltin(given(3), {})).toEqual({ sum: 3 });
  await expect(runBuiltin(given('3'), {})).rejects.toMatchObject({
    name: 'ToolError',
    code: 'result_invalid',
    executed: 'yes',
    message: expect.stringMatching(/^The result of demo\.tool does not fit: .*sum/s),
  });
});

test('[TD3] at most so many run at once, the others follow in their order', async () => {
  const { begun, run } = createHeldRuns();
  const tool = defineTool({ ...facts, concurrency: 2, run });
  const results = [1, 2, 3, 4].map((n) => runBuiltin(tool, { n }));
  await vi.waitFor(() => expect(begun.map(({ n }) => n)).toEqual([1, 2]));
  begun[1]?.end();
  await vi.waitFor(() => expect(begun.map(({ n }) => n)).toEqual([1, 2, 3]));
  begun[0]?.end();
  begun[2]?.end();
  await vi.waitFor(() => expect(begun).toHaveLength(4));
  begun[3]?.end();
  expect(await Promise.all(results)).toEqual([1, 2, 3, 4]);
});

test('[TD3] one that is stopped while it waits was not run, and leaves its place to the next', async () => {
  const { begun, run } = createHeldRuns();
  const tool = defineTool({ ...facts, concurrency: 1, run });
  const first = runBuiltin(tool, { n: 1 });
  const stopping = new AbortController();
  const second = runBuiltin(tool, { n: 2 }, { signal: stopping.signal });
  const third = runBuiltin(tool, { n: 3 });
  stopping.abort(new ToolError('enough'));
  await expect(second).rejects.toMatchObject({
    executed: 'no',
    message: expect.stringContaining('waited for its turn'),
  });
  begun[0]?.end();
  expect(await first).toBe(1);
  await vi.waitFor(() => expect(begun).toHaveLength(2));
  begun[1]?.end();
  expect(await third).toBe(3);
});

test('[TD3] one waits no longer than its tool may take, whatever its caller would wait', async () => {
  const { begun, run } = createHeldRuns();
  const tool = defineTool({ ...facts, concurrency: 1, timeoutMs: 20, run });
  const first = runBuiltin(tool, { n: 1 });
  await expect(runBuiltin(tool, { n: 2 })).rejects.toMatchObject({
    executed: 'no',
    message: expect.stringContaining('waited for its turn'),
  });
  begun[0]?.end();
  expect(await first).toBe(1);
});

test('[TD3] of one owner 32 wait at most, and the calls of another have their turn', async () => {
  const { begun, run } = createHeldRuns();
  const tool = defineTool({ ...facts, concurrency: 1, timeoutMs: 60_000, run });
  const taken = Array.from({ length: 33 }, (_, n) => runBuiltin(tool, { n }));
  await expect(runBuiltin(tool, { n: 99 })).rejects.toMatchObject({ executed: 'no' });
  const other = runBuiltin(tool, { n: 100 }, { ownerToken: 'tok_other' });
  for (let ended = 0; ended < 34; ended += 1) {
    await vi.waitFor(() => expect(begun).toHaveLength(ended + 1));
    begun[ended]?.end();
    if (ended === 2) expect(await other).toBe(100);
  }
  expect((await Promise.all(taken)).length).toBe(33);
});

/** A tool with state that notes what becomes of each of its instances. */
function createStateful(run: (signal: AbortSignal) => Promise<{ output: unknown }>) {
  const notes: string[] = [];
  let count = 0;
  const tool = defineTool({
    ...facts,
    create() {
      count += 1;
      const name = `instance ${count}`;
      return {
        run: (_args, { signal }) => {
          notes.push(`${name} runs`);
          return run(signal);
        },
        async dispose() {
          notes.push(`${name} is disposed`);
        },
      };
    },
  });
  return { tool, notes };
}

test('[TD4] a tool with state has one instance for each call, disposed when that ends', async () => {
  const { tool, notes } = createStateful(async () => ({ output: 1 }));
  await runBuiltin(tool, {});
  await runBuiltin(tool, {});
  expect(notes).toEqual([
    ...['instance 1 runs', 'instance 1 is disposed'],
    ...['instance 2 runs', 'instance 2 is disposed'],
  ]);
});

test('[TD4] what makes an instance is given the context of its call', async () => {
  const create = ({ callId, runId }: ToolContext) => ({
    run: async () => ({ output: { callId, runId } }),
  });
  const tool = defineTool({ ...facts, create });
  expect(await runBuiltin(tool, {})).toEqual({ callId: 'tc_1', runId: 'run_1' });
});

test('[TD4] the instance of a call that throws is disposed as well', async () => {
  const { tool, notes } = createStateful(() => Promise.reject(new ToolError('broken')));
  await expect(runBuiltin(tool, {})).rejects.toThrow('broken');
  expect(notes).toEqual(['instance 1 runs', 'instance 1 is disposed']);
});

test('[TD4] the instance of a run that goes on after its abort is disposed a second later, once', async () => {
  vi.useFakeTimers();
  try {
    const held = Promise.withResolvers<{ output: unknown }>();
    const { tool, notes } = createStateful(() => held.promise);
    const stopping = new AbortController();
    const result = runBuiltin(tool, {}, { signal: stopping.signal });
    await vi.waitFor(() => expect(notes).toEqual(['instance 1 runs']));
    stopping.abort();
    expect(notes).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(notes).toEqual(['instance 1 runs', 'instance 1 is disposed']);
    held.resolve({ output: 'late' });
    await result;
    expect(notes).toHaveLength(2);
  } finally {
    vi.useRealTimers();
  }
});

test('[TD5] description and arguments may be functions, read whenever they are needed', async () => {
  let room = 'kitchen';
  const tool = defineTool({
    ...facts,
    description: () => `Lights of the ${room}`,
    args: () => z.object({ room: z.literal(room) }),
    run: async (args) => ({ output: args.room }),
  });
  expect(toProvidedTool(tool).description).toBe('Lights of the kitchen');
  room = 'hall';
  expect(tool.description).toBe('Lights of the hall');
  expect(toProvidedTool(tool).schema).toMatchObject({ properties: { room: { const: 'hall' } } });
  await expect(runBuiltin(tool, { room: 'kitchen' })).rejects.toMatchObject({ executed: 'no' });
});

test('[TD6] hints of the tool stand beside those that follow from its effect', () => {
  const annotations = { destructiveHint: true, openWorldHint: true };
  const tool = defineTool({ ...facts, annotations, run: async () => ({ output: 1 }) });
  expect(toProvidedTool(tool).annotations).toEqual({ readOnlyHint: false, ...annotations });
});
