import type { ModelMessage } from 'ai';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Call } from '#lib/call/call';
import { outputOfRecord } from '#lib/call/model-output';
import type { Message, MessagePart } from '#lib/protocol/run';
import { buildModelHistory } from './build-model-history.ts';
import { type FakeTool, fakeCall } from './testing/fakes.ts';
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
    const text: MessagePart = { type: 'text', text: `answered ${at} ${'w'.repeat(entry.text)}.` };
    return { ...of, role: 'assistant', parts: [text, ...parts] };
  });
  return { calls, messages: [GO, ...messages] };
}

/** The ids of all calls, and of all results, in their order. */
function pairing(messages: readonly ModelMessage[]) {
  const parts = messages.flatMap(({ content }): readonly { readonly type: string }[] =>
    typeof content === 'string' ? [] : content,
  );
  const idsOf = (type: string) =>
    parts.flatMap((part) => (part.type === type && 'toolCallId' in part ? [part.toolCallId] : []));
  return { called: idsOf('tool-call'), answered: idsOf('tool-result') };
}

test('[AL47] whatever there is room for, no call is without its result, and none of these without its call', () => {
  fc.assert(
    fc.property(conversation, fc.nat(6_000), (entries, room) => {
      const { calls, messages } = made(entries);
      const history = buildModelHistory({
        ...{ messages, calls, roomBytes: room, replays: new Map(), images: new Map() },
        imageWay: 'none',
        toModelName: (name) => name.replaceAll('.', '_'),
        outputOf: (one) => outputOfRecord(one),
      });
      const { called, answered } = pairing(history.messages);
      expect(answered).toEqual(called);
      expect(called).toHaveLength(history.results.length);
      const text = JSON.stringify(history.messages);
      const kept = messages.filter(({ parts: [first] }) =>
        text.includes(first?.type === 'text' ? first.text : ''),
      );
      const isAll = kept.length === messages.length;
      expect(history.messagesLeftOut).toBe(messages.length - kept.length);
      expect(text.includes(OLDER) || text.includes(STEPS)).toBe(!isAll);
      // The newest, and what the person said last.
      expect(kept).toContain(messages.at(-1));
      expect(kept).toContain(messages.findLast(({ role }) => role === 'user'));
      if (kept.length > 2) expect(text.length).toBeLessThan(room + 400);
    }),
    { numRuns: 200 },
  );
});

describe.each([
  'openai-chat:gpt-4o',
  'openai:gpt-4o',
  'anthropic:claude-sonnet-5-5',
  'google:gemini-2.5-flash',
])('over %s', (model) => {
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
