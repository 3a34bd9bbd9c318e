import { streamText } from 'ai';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Call } from '#lib/call/call';
import { outputOfRecord } from '#lib/call/model-output';
import type { Message, MessagePart } from '#lib/protocol/run';
import { createRehearsalModel } from '../../rehearsal/rehearsal-model.ts';
import {
  createScriptedOpenAI,
  fetchFrom,
  type ScriptedApi,
  type ScriptedRequest,
} from '../../testing/scripted-openai.ts';
import { buildModelHistory } from './build-model-history.ts';
import { Models } from './models.ts';
import { type FakeTool, fakeCall, systemClock } from './testing/fakes.ts';
import { inOrder, setupTurns } from './testing/setup-turns.ts';

const OLDER = 'The older messages of this conversation are left out';
const STEPS = 'Your earlier steps for this message';

/** A conversation: each entry a message, of a person or of a model with so many calls. */
const conversation = fc.array(
  fc.oneof(
    fc.record({ input: fc.nat(300) }),
    fc.record({ calls: fc.array(fc.nat(600), { maxLength: 3 }), text: fc.nat(200) }),
  ),
  { minLength: 1, maxLength: 25 },
);
type Conversation = typeof conversation extends fc.Arbitrary<infer T> ? T : never;

const GO: Message = {
  ...{ message_id: 'msg_go', run_id: 'run_1', role: 'user', status: 'done', created_at: 0 },
  parts: [{ type: 'text', text: 'go' }],
};

function made(entries: Conversation) {
  const calls = new Map<string, Call>();
  const messages = entries.map((entry, at): Message => {
    const of = { message_id: `msg_${at}`, run_id: 'run_1', status: 'done', created_at: 0 } as const;
    if ('input' in entry) {
      const text = `said ${at} ${'w'.repeat(entry.input)}`;
      return { ...of, role: 'user', parts: [{ type: 'text', text }] };
    }
    const parts = entry.calls.map((size, index): MessagePart => {
      const id = `tc_${at}_${index}`;
      const more = { status: 'SUCCEEDED', phase: null, result: 'r'.repeat(size) } as const;
      calls.set(id, fakeCall({ id, toolName: 'demo.echo', ...more }));
      return { type: 'tool_call', tool_call_id: id };
    });
    // It ends with no space: Anthropic's API takes none at the end, and its package cuts them off.
    const text: MessagePart = { type: 'text', text: `answered ${at} ${'w'.repeat(entry.text)}.` };
    return { ...of, role: 'assistant', parts: [text, ...parts] };
  });
  return { calls, messages: [GO, ...messages] };
}

const record = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? { ...value } : {};
const list = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.map(record) : [];

/** Of each place where calls or results stand: their ids, or names where the API has no ids. */
function pairing({ api, body }: ScriptedRequest) {
  const called: string[] = [];
  const answered: string[] = [];
  const note = (all: string[], ids: unknown[]) => all.push(...ids.map(String));
  if (api === 'chat') {
    for (const { role, tool_calls, tool_call_id } of list(body.messages)) {
      note(
        called,
        list(tool_calls).map(({ id }) => id),
      );
      if (role === 'tool') note(answered, [tool_call_id]);
    }
  } else if (api === 'responses') {
    for (const { type, call_id } of list(body.input)) {
      if (type === 'function_call') note(called, [call_id]);
      if (type === 'function_call_output') note(answered, [call_id]);
    }
  } else if (api === 'anthropic') {
    for (const { type, id, tool_use_id } of list(body.messages).flatMap((one) =>
      list(one.content),
    )) {
      if (type === 'tool_use') note(called, [id]);
      if (type === 'tool_result') note(answered, [tool_use_id]);
    }
  } else {
    // Without ids: as many results as calls, in the content after it.
    const contents = list(body.contents).map(({ parts }) => list(parts));
    for (const [at, parts] of contents.entries()) {
      const calls = parts.filter(({ functionCall }) => functionCall);
      const results = (contents[at + 1] ?? []).filter(({ functionResponse }) => functionResponse);
      note(
        called,
        calls.map((_, index) => `${at} ${index}`),
      );
      if (calls.length > 0)
        note(
          answered,
          results.map((_, index) => `${at} ${index}`),
        );
      if (parts.some(({ functionResponse }) => functionResponse)) {
        expect(contents[at - 1]?.some(({ functionCall }) => functionCall)).toBe(true);
      }
    }
  }
  return { called, answered };
}

async function setup(model: string) {
  const openai = await createScriptedOpenAI({ script: () => ({ text: 'ok' }) });
  onTestFinished(openai.close);
  const models = new Models({
    ...{ openaiApiKey: 'sk-test', anthropicApiKey: 'sk-ant-test', googleApiKey: 'AIza-test' },
    ...{ openaiBaseUrl: openai.url, fetch: fetchFrom(openai.url) },
    ...{ defaultModel: model, clock: systemClock },
    rehearsal: createRehearsalModel({ clock: systemClock, paceMs: 0 }),
  });
  const opened = await models.open(model);
  if (!opened.ok) throw new Error(opened.error.message);
  const { languageModel } = opened.model;
  return async (entries: Conversation, roomBytes: number) => {
    const { calls, messages } = made(entries);
    const history = buildModelHistory({
      ...{ messages, calls, roomBytes, replays: new Map(), images: new Map(), imageWay: 'none' },
      toModelName: (name) => name.replaceAll('.', '_'),
      outputOf: (one) => outputOfRecord(one),
    });
    await streamText({ model: languageModel, messages: [...history.messages], maxRetries: 0 }).text;
    const request = openai.requests.at(-1);
    if (!request) throw new Error('nothing was asked');
    return { history, request, messages };
  };
}

const WIRES: [ScriptedApi, string][] = [
  ['chat', 'openai-chat:gpt-4o'],
  ['responses', 'openai:gpt-4o'],
  ['anthropic', 'anthropic:claude-sonnet-5-5'],
  ['gemini', 'google:gemini-2.5-flash'],
];

describe.each(WIRES)('over %s', (api, model) => {
  test('[AL47] whatever there is room for, no call is without its result, and none of these without its call', async () => {
    const sent = await setup(model);
    await fc.assert(
      fc.asyncProperty(conversation, fc.nat(6_000), async (entries, room) => {
        const { history, request, messages } = await sent(entries, room);
        expect(request.api).toBe(api);
        const { called, answered } = pairing(request);
        expect(answered).toEqual(called);
        expect(called).toHaveLength(history.results.length);
        const text = JSON.stringify(request.body);
        const isThere = (words: string) => text.includes(words);
        const kept = messages.filter(({ parts: [first] }) =>
          isThere(first?.type === 'text' ? first.text : ''),
        );
        const isAll = kept.length === messages.length;
        expect(history.messagesLeftOut).toBe(messages.length - kept.length);
        expect(isThere(OLDER) || isThere(STEPS)).toBe(!isAll);
        // The newest, and what the person said last.
        expect(kept).toContain(messages.at(-1));
        expect(kept).toContain(messages.findLast(({ role }) => role === 'user'));
        if (kept.length > 2) {
          const bytes = JSON.stringify(history.messages).length;
          expect(bytes).toBeLessThan(room + 400);
        }
      }),
      { numRuns: 40 },
    );
  });

  test('[AL46] [AL47] a long turn goes on within the configured context, and says what is left out', async () => {
    const big: FakeTool = {
      name: 'demo.big',
      run: ({ n }) => ({ output: `${n} ${'x'.repeat(3_000)}` }),
    };
    const calls = Array.from({ length: 8 }, (_, n) => ({
      calls: [{ name: 'demo_big', args: { n } }],
    }));
    const { turn, openai, runs } = await setupTurns({
      ...{ model, tools: [big], script: inOrder(...calls, { text: 'Done.' }) },
      models: {
        ...{ anthropicApiKey: 'sk-ant-test', googleApiKey: 'AIza-test' },
        settings: { [model]: { context_tokens: 6_000 } },
      },
    });
    const run = await turn('Read all of it');
    expect(run.status).toBe('idle');
    const bodies = openai.requests.map(({ body }) => JSON.stringify(body));
    for (const body of bodies) {
      expect(body).toContain('Read all of it');
      expect(body.length).toBeLessThan(18_000);
    }
    expect(bodies[1]).not.toContain('left out');
    expect(bodies.at(-1)).toContain(STEPS);
    const last = openai.requests.at(-1);
    expect(last?.toolResults.at(-1)?.text).toContain('7 xxx');
    const noted = run.messages.flatMap(({ parts }) =>
      parts.filter((part) => part.type === 'notice'),
    );
    expect(noted).toMatchObject([
      { code: 'history_left_out', params: { count: expect.any(Number), model } },
    ]);
    // Of results that were left out nothing is recorded as sent.
    const page = await runs.modelTurns({ runId: run.run_id, after: 0, limit: 50 });
    expect(page?.turns.flatMap(({ sent }) => sent)).toHaveLength(8);
  });
});
