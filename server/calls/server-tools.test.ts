import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { defineTool, type ToolContext, ToolError } from '../tools/define-tool.ts';
import type { DraftCall } from './call-service.ts';
import { type CallsSetup, operator, type SetupOptions, setupCalls } from './testing/setup-calls.ts';
import { readToolStats } from './tool-stats.ts';

let setup: CallsSetup;

const facts = {
  name: 'demo',
  displayName: 'Demo',
  description: 'Does something',
  args: z.object({ text: z.string().optional() }),
  effect: 'read',
  timeoutMs: 1_000,
} as const;

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

const untilEnded = (id: string) =>
  vi.waitFor(
    async () => {
      const call = await setup.call(id);
      expect(call.completedAt).toBeDefined();
      return call;
    },
    { timeout: 10_000 },
  );

async function callDemo(
  run: (args: { text?: string | undefined }, context: ToolContext) => Promise<{ output: unknown }>,
  options: SetupOptions = {},
) {
  setup = await setupCalls({ ...options, tools: [defineTool({ ...facts, run })] });
  const { id } = await setup.invoke('demo', { text: 'a' });
  return untilEnded(id);
}

test('[TD7] a tool is given who made the call', async () => {
  const call = await callDemo(async (_args, { principal }) => ({ output: principal }));
  expect(call.result).toEqual(operator);
});

test('[TD7] a call whose caller was revoked is not run', async () => {
  const run = vi.fn(async () => ({ output: 1 }));
  const callers = { callerOf: () => undefined, operatorNamed: () => undefined };
  setup = await setupCalls({ callers, tools: [defineTool({ ...facts, run })] });
  const agent = { kind: 'agent', name: 'a', tokenId: 'tok_1', tools: ['demo'] } as const;
  const { id } = await setup.invoke('demo', {}, { principal: agent });
  await vi.waitFor(async () =>
    expect((await setup.call(id)).error).toMatchObject({ executed: 'no' }),
  );
  expect(run).not.toHaveBeenCalled();
});

test('[TD8] what a tool attaches is beside its result, in the order of the tool', async () => {
  const call = await callDemo(async (_args, { attach }) => {
    const files = await Promise.all([
      attach({ mediaType: 'image/png', bytes: PNG, name: 'dot.png', alt: 'A dot' }),
      attach({ mediaType: 'text/plain', bytes: Buffer.from('hello') }),
    ]);
    return { output: files.length };
  });
  expect(call).toMatchObject({ status: 'SUCCEEDED', result: 2 });
  expect(call.attachments).toEqual([
    expect.objectContaining({ media_type: 'image/png', name: 'dot.png', alt: 'A dot', width: 1 }),
    expect.objectContaining({ media_type: 'text/plain', size: 5 }),
  ]);
  expect(setup.cardOf(call.id)?.attachments).toHaveLength(2);
});

test.each([
  ['bytes of another type', { mediaType: 'image/png', bytes: Buffer.from('no picture') }, 1, 0],
  ['a ninth file', { mediaType: 'text/plain', bytes: Buffer.from('x') }, 9, 8],
])('[TD8] %s fails the call, which keeps the files before', async (_what, file, count, kept) => {
  const call = await callDemo(async (_args, { attach }) => {
    for (let one = 0; one < count; one += 1) await attach(file);
    return { output: 1 };
  });
  expect(call.error).toMatchObject({ code: 'tool_error' });
  expect(call.attachments).toHaveLength(kept);
});

test('[TD8] a result that a hook replaced has no files of the one before', async () => {
  const call = await callDemo(
    async (_args, { attach }) => {
      await attach({ mediaType: 'text/plain', bytes: Buffer.from('secret') });
      return { output: 'secret' };
    },
    {
      results: {
        isFor: () => true,
        filter: async () => ({
          ...{ result: { ok: true, output: 'clean' }, isReplaced: true, notes: [] },
        }),
      },
    },
  );
  expect(call).toMatchObject({ result: 'clean', attachments: [] });
});

test('[TD9] a thrown ToolError is a failed call with its text; what else is thrown is in the log', async () => {
  const reason = new ToolError('There is no such room', { executed: 'no' });
  expect((await callDemo(() => Promise.reject(reason))).error).toMatchObject({
    ...{ code: 'tool_error', message: 'There is no such room', executed: 'no' },
  });
  await setup.close();
  const call = await callDemo(() => Promise.reject(new Error('at line 3')));
  expect(JSON.stringify(call.error)).not.toContain('line 3');
  expect(String(setup.errors)).toContain('at line 3');
  setup.errors.length = 0;
});

const write = (draft: DraftCall, args: Record<string, unknown>) =>
  draft.update(args, async () => args);

/** A draft for a tool that looks at what is written of its arguments. */
async function draftFor(
  onPartial: (text: unknown) => void | Promise<void>,
  principal: object = operator,
) {
  const run = vi.fn(async () => ({ output: 'done' }));
  const tool = defineTool({
    ...facts,
    run,
    async onPartial({ text }, { status }) {
      status({ tip: `So far: ${text}` });
      await onPartial(text);
    },
  });
  setup = await setupCalls({ tools: [tool] });
  const request = { principal: operator, ...principal, tool: 'demo', runId: 'run_1' };
  return { draft: await setup.calls.draft(request), run };
}

test('[TD10] T152: arguments that are still written reach onPartial and the card, and never run', async () => {
  const seen: unknown[] = [];
  const { draft, run } = await draftFor((text) => void seen.push(text));
  write(draft, { text: 'a' });
  await vi.waitFor(() => expect(seen).toEqual(['a']));
  write(draft, { text: 'ab' });
  await vi.waitFor(() => expect(seen).toEqual(['a', 'ab']));
  expect(setup.cardOf(draft.callId)).toMatchObject({ phase: 'streaming', tip: 'So far: ab' });
  expect(run).not.toHaveBeenCalled();
  await draft.complete({ text: 'abc' });
  expect((await untilEnded(draft.callId)).status).toBe('SUCCEEDED');
  expect(run).toHaveBeenCalledOnce();
  write(draft, { text: 'late' });
  await setup.settle();
  expect(seen).toEqual(['a', 'ab']);
});

test('[TD10] while a tool still looks only the newest waits', async () => {
  const seen: unknown[] = [];
  const looking = Promise.withResolvers<void>();
  const { draft } = await draftFor((text) => {
    seen.push(text);
    return looking.promise;
  });
  for (const text of ['a', 'ab', 'abc', 'abcd']) write(draft, { text });
  await vi.waitFor(() => expect(seen).toEqual(['a']));
  looking.resolve();
  await vi.waitFor(() => expect(seen).toEqual(['a', 'abcd']));
  await draft.abandon('enough');
});

test('[TD10] a look that fails is in the log, and the call goes on', async () => {
  const { draft } = await draftFor(() => Promise.reject(new Error('cannot look')));
  write(draft, { text: 'a' });
  await vi.waitFor(() => expect(String(setup.errors)).toContain('cannot look'));
  setup.errors.length = 0;
  await draft.complete({ text: 'ab' });
  expect((await untilEnded(draft.callId)).status).toBe('SUCCEEDED');
});

test('[TD10] a tool that the caller may not call does not see what is written for it', async () => {
  const seen: unknown[] = [];
  const principal = { kind: 'agent', name: 'a', tokenId: 'tok_1', tools: ['other'] };
  const { draft } = await draftFor((text) => void seen.push(text), { principal });
  write(draft, { text: 'a' });
  await setup.settle();
  expect(seen).toEqual([]);
  await draft.abandon('enough');
});

test('[TD11] a tool with free arguments is asked about each time, and "always" is not offered', async () => {
  const check = () => ({ verdict: 'ask' as const, reason: 'it writes' });
  const run = async () => ({ output: 1 });
  const free = defineTool({ ...facts, neverAlways: true, run });
  const bound = defineTool({ ...facts, name: 'bound', run });
  setup = await setupCalls({ check, tools: [free, bound] });
  const always = async (tool: string) => {
    const { id } = await setup.invoke(tool);
    return (await setup.calls.decide(id, operator, { decision: 'always' })).ok;
  };
  expect(await always('bound')).toBe(true);
  expect(await always('demo')).toBe(false);
  const { card } = await setup.invoke('demo');
  expect(card).toMatchObject({ phase: 'approval', always_rule: null });
});

test('[TD4] [TD10] E1: of 12 pieces of arguments and a slow factory come one instance and one run', async () => {
  const ready = Promise.withResolvers<void>();
  const run = vi.fn(async ({ text }: { text?: string | undefined }) => ({ output: text }));
  const create = vi.fn(async () => {
    await ready.promise;
    return { run };
  });
  setup = await setupCalls({ tools: [defineTool({ ...facts, create })] });
  const draft = await setup.calls.draft({ principal: operator, tool: 'demo', runId: 'run_1' });
  for (let piece = 1; piece <= 12; piece += 1) write(draft, { text: 'x'.repeat(piece) });
  await setup.settle();
  expect(create).not.toHaveBeenCalled();
  await draft.complete({ text: 'whole' });
  await vi.waitFor(() => expect(create).toHaveBeenCalledOnce());
  write(draft, { text: 'late' });
  ready.resolve();
  expect(await untilEnded(draft.callId)).toMatchObject({ status: 'SUCCEEDED', result: 'whole' });
  expect([create.mock.calls.length, run.mock.calls.length]).toEqual([1, 1]);
});

test('[CA50] E2: a call whose arguments were streamed counts once, with the time that it ran', async () => {
  const begun = Promise.withResolvers<void>();
  const rest = Promise.withResolvers<void>();
  const run = async () => {
    begun.resolve();
    await rest.promise;
    return { output: 1 };
  };
  setup = await setupCalls({ tools: [defineTool({ ...facts, run })] });
  const draft = await setup.calls.draft({ principal: operator, tool: 'demo', runId: 'run_1' });
  for (let piece = 1; piece <= 11; piece += 1) {
    write(draft, { text: 'x'.repeat(piece) });
    setup.clock.advance(1_000);
  }
  await draft.complete({ text: 'whole' });
  await begun.promise;
  setup.clock.advance(250);
  rest.resolve();
  await untilEnded(draft.callId);
  const { tools } = await readToolStats(setup.store, undefined);
  expect(tools).toMatchObject([{ tool_name: 'demo', count: 1, succeeded: 1, p50_ms: 250 }]);
});

test('[TD1] E5: a date that is coerced is listed as a text of that format, and run has a Date', async () => {
  const at = z.coerce.date();
  const run = async ({ at }: { at: Date }) => ({ output: [at instanceof Date, at.getTime()] });
  setup = await setupCalls({ tools: [defineTool({ ...facts, args: z.object({ at }), run })] });
  const listed = setup.registry.list(operator).find(({ name }) => name === 'demo');
  expect(listed?.schema).toMatchObject({
    properties: { at: { type: 'string', format: 'date-time' } },
    required: ['at'],
  });
  const { id } = await setup.invoke('demo', { at: '2026-11-23T01:02:03Z' });
  expect((await untilEnded(id)).result).toEqual([true, Date.UTC(2026, 10, 23, 1, 2, 3)]);
  const odd = { principal: operator, tool: 'demo', runId: 'run_1', args: { at: {} } };
  expect(await setup.calls.invoke(odd)).toMatchObject({ ok: false, code: 'invalid_args' });
});

test('[TD1] a date that no JSON value can be is no argument of a tool', async () => {
  const run = async () => ({ output: 1 });
  const tool = defineTool({ ...facts, args: z.object({ at: z.date() }), run });
  await expect(setupCalls({ tools: [tool] })).rejects.toThrow('Date');
  setup = await setupCalls();
});
