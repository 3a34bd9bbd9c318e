import { createHash } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { mergeCard } from '#lib/call/merge-card';
import { outputOfRecord } from '#lib/call/model-output';
import type { Card } from '#lib/protocol/card';
import type { WatchEvent } from '#lib/protocol/watch-messages';
import { tempDir } from '#lib/testing/temp-dir';
import { FIRST_OPERATOR } from '../../auth/principal.ts';
import { ALLOW_ALL } from '../../calls/testing/allow-all.ts';
import { createRehearsalModel } from '../../rehearsal/rehearsal-model.ts';
import { FakeProvider } from '../../testing/fake-provider.ts';
import { createScriptedOpenAI, type Script } from '../../testing/scripted-openai.ts';
import { createCalculationEval } from '../../tools/builtin/calculate.ts';
import { type AnyServerTool, defineTool } from '../../tools/define-tool.ts';
import { OwnTools } from '../../tools/own-tools.ts';
import type { ToolProvider } from '../../tools/tool-provider.ts';
import { holdTool } from '../testing/hold-tool.ts';
import { openParts, serveRuns } from '../testing/serve-runs.ts';
import { systemClock as clock } from './testing/fakes.ts';
import { inOrder } from './testing/setup-turns.ts';

/** Agent and runs on the real store, bus, registry and call service. */

const principal = FIRST_OPERATOR;

function temporaryDirectory(): string {
  const dir = tempDir();
  return dir;
}

interface Given {
  dir: string;
  script?: Script;
  started?: () => void;
  /** Every call waits for a person. */
  asks?: boolean;
  tools?: readonly AnyServerTool[];
  providers?: readonly ToolProvider[];
}

async function serve(given: Given) {
  const openai = await createScriptedOpenAI({ script: given.script ?? (() => ({})) });
  onTestFinished(openai.close);
  const parts = await openParts(given.dir, [
    new OwnTools([
      createCalculationEval(),
      holdTool('demo.hold', given.started),
      ...(given.tools ?? []),
    ]),
    ...(given.providers ?? []),
  ]);
  const { bus, errors } = parts;
  const events: WatchEvent[] = [];
  const waiting: (() => void)[] = [];
  bus.subscribe({
    onEvents(batch) {
      events.push(...batch.map(({ event }) => event));
      for (const look of waiting) look();
    },
  });
  const until = <T>(find: (event: WatchEvent) => T | undefined): Promise<T> =>
    new Promise((resolve) => {
      const look = () => {
        for (const event of events) {
          const found = find(event);
          if (found !== undefined) resolve(found);
        }
      };
      waiting.push(look);
      look();
    });
  const served = serveRuns({
    ...{ parts, openaiUrl: openai.url },
    policy: given.asks
      ? { ...ALLOW_ALL, check: () => ({ verdict: 'ask', reason: 'A person decides.' }) }
      : ALLOW_ALL,
    models: { rehearsal: createRehearsalModel({ clock, paceMs: 1 }) },
  });
  await served.recover();
  const { calls, runs, start } = served;
  let isClosed = false;
  const close = async () => {
    if (!isClosed) await served.close();
    isClosed = true;
  };
  onTestFinished(close);
  const ended = (runId: string) =>
    until((event) =>
      event.type === 'run' && event.run.run_id === runId && event.run.status !== 'running'
        ? event.run
        : undefined,
    );
  const cardOf = (): Card | undefined =>
    events.reduce<Card | undefined>(
      (card, event) => (event.type === 'call' ? mergeCard(card, event.update) : card),
      undefined,
    );
  return { openai, calls, runs, events, errors, start, ended, until, cardOf, close };
}

const started = (server: Awaited<ReturnType<typeof serve>>, input: string, model?: string) =>
  server.start(input, model ? { model } : {});

test('[AL1] a sentence becomes a call, a card and an answer, with the rehearsal model', async () => {
  const server = await serve({ dir: temporaryDirectory() });
  const runId = await started(server, 'What is 2+3*4?');
  expect(await server.ended(runId)).toMatchObject({ status: 'idle' });
  expect(server.cardOf()).toMatchObject({ status: 'SUCCESS', params: { expression: '2+3*4' } });
  const messages = (await server.runs.get(runId))?.messages ?? [];
  expect(JSON.stringify(messages.at(-1))).toContain('14');
  expect(server.errors).toEqual([]);
});

test('[AL175] the model’s own id of a call is in its record, its first event, its card and the run', async () => {
  const call = { name: 'calculation_eval', args: { expression: '1' }, id: 'call_of_the_model' };
  const dir = temporaryDirectory();
  const server = await serve({ dir, script: inOrder({ calls: [call] }, { text: 'ok' }) });
  const runId = await started(server, 'one', 'openai:gpt-4o');
  await server.ended(runId);
  const parts = (await server.runs.get(runId))?.messages.flatMap((message) => message.parts) ?? [];
  const part = parts.find((one) => one.type === 'tool_call');
  expect(part).toMatchObject({ model_call_id: 'call_of_the_model' });
  expect(server.cardOf()).toMatchObject({ model_call_id: 'call_of_the_model' });
  await server.close();
  const again = await serve({ dir });
  const id = part?.tool_call_id ?? '';
  expect(await again.calls.get(id)).toMatchObject({ modelCallId: 'call_of_the_model' });
  const [first] = await again.calls.events(id, { after: 0, limit: 1 });
  expect(first?.update).toMatchObject({ model_call_id: 'call_of_the_model' });
});

test.each(['openai-chat:gpt-4o', 'openai:gpt-4o'])(
  '[AL4] %s: the card grows with the arguments, and history has one result',
  async (model) => {
    const rest = Promise.withResolvers<void>();
    const call = { name: 'calculation_eval', args: { expression: '6 * 7' } };
    // After `{"expression":"6 *`.
    const script: Script = ({ index }) =>
      index === 0 ? { calls: [call], stall: { at: 19, until: rest.promise } } : { text: '42' };
    const server = await serve({ dir: temporaryDirectory(), script });
    const runId = await started(server, 'six times seven', model);
    const partial = await server.until((event) =>
      event.type === 'call' && event.update.params?.expression ? event.update : undefined,
    );
    expect('6 * 7'.startsWith(String(partial.params?.expression))).toBe(true);
    expect(server.cardOf()).toMatchObject({ status: 'WAIT', phase: 'streaming', partial: true });
    rest.resolve();
    await server.ended(runId);
    expect(server.cardOf()).toMatchObject({ status: 'SUCCESS', params: { expression: '6 * 7' } });
    expect(server.openai.requests[1]?.toolResults).toHaveLength(1);
    expect(server.openai.requests[1]?.toolResults[0]?.text).toContain('42');
  },
);

test.each(['openai-chat:gpt-4o', 'openai:gpt-4o', 'compatible:qwen3'])(
  '[SC26] [SC28] %s: arguments as JSON text run as what they spell, and half of such a text never runs',
  async (model) => {
    const inner = JSON.stringify({ expression: '6 * 7' });
    const asText = (text: string) => [{ name: 'calculation_eval', args: JSON.stringify(text) }];
    const script = inOrder(
      { calls: asText(inner) },
      { calls: asText(inner.slice(0, -1)) },
      { text: 'done' },
    );
    const server = await serve({ dir: temporaryDirectory(), script });
    const runId = await started(server, 'x', model);
    await server.ended(runId);
    const { calls } = await server.calls.list({ runId, limit: 10 });
    expect(calls.map(({ status, card }) => [status, card.repairs])).toEqual([
      ['FAILED', undefined],
      ['SUCCEEDED', { paths: [''], count: 1 }],
    ]);
    expect(server.openai.requests[1]?.toolResults[0]?.text).toContain('42');
    const failed = server.openai.requests[2]?.toolResults[1]?.text;
    expect(failed).toContain('must be an object, was the text');
    expect(failed).toContain('"executed":"no"');
  },
);

const HOLD = { calls: [{ name: 'demo_hold', args: '{}' }] };
const holding = inOrder(HOLD, { text: 'again' });

test('[RU4] Stop ends the run at once and cancels the call that runs', async () => {
  const running = Promise.withResolvers<void>();
  const server = await serve({
    dir: temporaryDirectory(),
    script: holding,
    started: running.resolve,
  });
  const runId = await started(server, 'x', 'openai-chat:gpt-4o');
  await running.promise;
  expect(await server.runs.cancel(runId)).toMatchObject({ ok: true, run: { status: 'cancelled' } });
  const error = await server.until((event) =>
    event.type === 'call' && event.update.status === 'ERROR' ? event.update.error : undefined,
  );
  expect(error).toMatchObject({ code: 'cancelled' });
});

test('[RU4] Stop ends a turn that waits for a person’s yes, and the call did not run', async () => {
  const script = () => ({ calls: [{ name: 'calculation_eval', args: { expression: '1+1' } }] });
  const server = await serve({ dir: temporaryDirectory(), script, asks: true });
  const runId = await started(server, 'x', 'openai-chat:gpt-4o');
  await server.until((event) =>
    event.type === 'call' && event.update.phase === 'approval' ? event : undefined,
  );
  expect(await server.runs.cancel(runId)).toMatchObject({ ok: true, run: { status: 'cancelled' } });
  const error = await server.until((event) =>
    event.type === 'call' && event.update.status === 'ERROR' ? event.update.error : undefined,
  );
  expect(error).toMatchObject({ code: 'cancelled', executed: 'no' });
});

test('[RU10] T149: a server that comes back goes on, and the history stays paired', async () => {
  const dir = temporaryDirectory();
  const running = Promise.withResolvers<void>();
  const first = await serve({ dir, script: holding, started: running.resolve });
  const runId = await started(first, 'x', 'openai-chat:gpt-4o');
  await running.promise;
  await first.close();

  const second = await serve({ dir, script: () => ({ text: 'here' }) });
  await second.ended(runId);
  expect(second.openai.requests).toHaveLength(1);
  // Whether the tool did it is unknown, and the model reads that.
  expect(second.openai.requests[0]?.toolResults).toHaveLength(1);
  expect(JSON.stringify(second.openai.requests[0]?.toolResults)).toContain('may or may not have');
  const run = await second.runs.get(runId);
  expect(run?.status).toBe('idle');
  expect(run?.messages.map(({ role, parts }) => [role, ...parts.map(({ type }) => type)])).toEqual([
    ['user', 'text'],
    ['assistant', 'tool_call'],
    ['assistant', 'notice'],
    ['assistant', 'text'],
  ]);
});

test('[AL100] a tool that the run was not given does not run, nor after a restart', async () => {
  const dir = temporaryDirectory();
  const running = Promise.withResolvers<void>();
  const calculation = { calls: [{ name: 'calculation.eval', args: { expression: '6 * 7' } }] };
  const first = await serve({
    dir,
    script: inOrder(calculation, HOLD),
    started: running.resolve,
  });
  const outcome = await first.runs.start({
    principal,
    input: 'x',
    model: 'openai-chat:gpt-4o',
    tools: ['demo.hold'],
  });
  if (!outcome.ok) throw new Error(outcome.message);
  await running.promise;
  await first.close();

  const second = await serve({
    dir,
    script: inOrder(calculation, { text: 'I may not.' }),
  });
  await second.ended(outcome.run.run_id);
  const { calls } = await second.calls.list({ runId: outcome.run.run_id, limit: 10 });
  const refused = calls.filter(({ toolName }) => toolName === 'calculation.eval');
  expect(refused).toMatchObject(
    [1, 2].map(() => ({
      status: 'FAILED',
      args: { expression: '6 * 7' },
      error: { code: 'no_provider', reason: 'not_offered', executed: 'no' },
    })),
  );
  expect(refused.map(({ startedAt }) => startedAt)).toEqual([undefined, undefined]);
  expect(second.openai.requests[1]?.toolResults.at(-1)?.text).toContain('not offered');
});

test('[RU11] a draft that a stop cut short is put back as a call that did not run', async () => {
  const dir = temporaryDirectory();
  const rest = Promise.withResolvers<void>();
  const first = await serve({
    dir,
    script: () => ({
      calls: [{ name: 'demo_hold', args: '{"a":1}' }],
      stall: { at: 3, until: rest.promise },
    }),
  });
  const runId = await started(first, 'x', 'openai-chat:gpt-4o');
  const id = await first.until((event) =>
    event.type === 'call' && event.update.phase === 'streaming' ? event.tool_call_id : undefined,
  );
  await first.close();
  rest.resolve();
  const second = await serve({ dir, script: () => ({ text: 'here' }) });
  await second.ended(runId);
  expect(await second.calls.get(id)).toMatchObject({
    status: 'FAILED',
    error: { code: 'interrupted', executed: 'no' },
  });
  expect(second.openai.requests[0]?.toolResults).toHaveLength(1);
});

test('[AL111] [AL113] after a restart each result is made again from the store with the hash that was recorded', async () => {
  const dir = temporaryDirectory();
  const calculation = (expression: unknown) => ({ name: 'calculation_eval', args: { expression } });
  const script = inOrder(
    { calls: [calculation('6 * 7'), calculation(7), calculation('"ü\u200b".length')] },
    { text: 'done' },
  );
  const first = await serve({ dir, script });
  const runId = await started(first, 'x', 'openai-chat:gpt-4o');
  await first.ended(runId);
  const got = first.openai.requests[1]?.toolResults ?? [];
  await first.close();

  const second = await serve({ dir, script: () => ({}) });
  const page = await second.runs.modelTurns({ runId, after: 0, limit: 9 });
  const parts = page?.turns.flatMap(({ sent }) => sent) ?? [];
  expect(parts).toHaveLength(3);
  for (const part of parts) {
    const { text } = outputOfRecord(await second.calls.get(part.tool_call_id));
    expect(text).not.toContain('outcome_unknown');
    expect(got.map((result) => result.text)).toContain(text);
    expect(createHash('sha256').update(text).digest('hex')).toBe(part.sha256);
  }
});

test('[AL2] T97: what a tool shows people is on its card and in no request to the model', async () => {
  const show = defineTool({
    ...{ name: 'demo.show', displayName: 'Show', description: 'Shows', args: z.object({}) },
    ...{ effect: 'read', timeoutMs: 60_000 },
    async run(_args, { status }) {
      status({ tip: 'CANARY tip', preview: { token: 'CANARY preview' } });
      return { output: 'said', display: { secret: 'CANARY display' } };
    },
  });
  const script = inOrder({ calls: [{ name: 'demo_show', args: '{}' }] }, { text: 'done' });
  const server = await serve({ dir: temporaryDirectory(), script, tools: [show] });
  await server.ended(await started(server, 'x', 'openai-chat:gpt-4o'));
  expect(server.openai.requests[1]?.toolResults[0]?.text).toBe('said');
  expect(JSON.stringify(server.openai.requests.map(({ body }) => body))).not.toContain('CANARY');
  const shown = JSON.stringify(server.cardOf());
  for (const part of ['tip', 'display']) expect(shown).toContain(`CANARY ${part}`);
});

test('[PV2] [PV8] [AL150] a model calls a tool of another provider, and reads what that gives in a mark', async () => {
  const files = new FakeProvider();
  files.offer({
    name: 'files.read',
    description: 'Reads a file',
    run: async () => ({ output: 'Hi' }),
  });
  const script: Script = ({ index }) =>
    index === 0 ? { calls: [{ name: 'files_read', args: {} }] } : { text: 'done' };
  const server = await serve({ dir: temporaryDirectory(), script, providers: [files] });
  const runId = await started(server, 'read it', 'openai-chat:gpt-4o');
  expect(await server.ended(runId)).toMatchObject({ status: 'idle' });
  expect(server.cardOf()).toMatchObject({ status: 'SUCCESS', source: 'mcp', result: 'Hi' });
  const [first, second] = server.openai.requests;
  expect(JSON.stringify(first?.body)).toMatch(/<untrusted [^>]*>[^<]*Reads a file/);
  expect(second?.toolResults[0]?.text).toMatch(/<untrusted [^>]*>\s*Hi\s*</);
  expect(server.errors).toEqual([]);
});
