import { expect, test } from 'vitest';
import { createSecrets } from '#lib/text/secrets';
import type { ScriptedRequest } from '../../testing/scripted-openai.ts';
import type { ScriptedReply } from '../../testing/scripted-openai-events.ts';
import { createReplayDraft } from './replay.ts';
import { echo, inOrder, partsOf, setupTurns, texts } from './testing/setup-turns.ts';

const KEYS = { anthropicApiKey: 'sk-ant-test', googleApiKey: 'AIza-test' };

const step: ScriptedReply = {
  reasoning: 'They want x.',
  signature: 'c2lnbmVkIGJ5IHRoZSBwcm92aWRlcg==',
  text: 'Let me see.',
  calls: [{ name: 'demo_echo', args: { text: 'x' }, id: 'call_of_the_model' }],
};

type Json = Record<string, unknown>;

const list = (value: unknown): Json[] => (Array.isArray(value) ? value : []);

/** Everything that the history of a request says in the name of the model, in its API's own form. */
function modelsParts({ api, body }: ScriptedRequest): Json[] {
  if (api === 'gemini') {
    return list(body.contents).flatMap(({ role, parts }) => (role === 'model' ? list(parts) : []));
  }
  if (api === 'responses') {
    const own = ['reasoning', 'function_call'];
    return list(body.input).filter(
      ({ role, type }) => role === 'assistant' || own.includes(String(type)),
    );
  }
  const messages = list(body.messages).filter(({ role }) => role === 'assistant');
  return api === 'anthropic' ? messages.flatMap(({ content }) => list(content)) : messages;
}

const OWN_PARTS: [string, Json[]][] = [
  [
    'anthropic:claude-sonnet-5-5',
    [
      { type: 'thinking', thinking: step.reasoning, signature: step.signature },
      { type: 'text', text: step.text },
      { type: 'tool_use', id: 'call_of_the_model', name: 'demo_echo' },
    ],
  ],
  [
    'google:gemini-2.5-flash',
    [
      { text: step.text },
      { functionCall: { name: 'demo_echo' }, thoughtSignature: step.signature },
    ],
  ],
  [
    'openai:gpt-5',
    [
      {
        ...{ type: 'reasoning', id: 'rs_scripted', encrypted_content: step.signature },
        summary: [{ type: 'summary_text', text: step.reasoning }],
      },
      { role: 'assistant', content: step.text },
      { type: 'function_call', call_id: 'call_of_the_model', name: 'demo_echo' },
    ],
  ],
  [
    'openai-chat:gpt-4o',
    [{ content: step.text, tool_calls: [{ id: 'call_of_the_model', type: 'function' }] }],
  ],
];

const sent = (request: ScriptedRequest | undefined) => (request ? modelsParts(request) : []);

test.each(OWN_PARTS)(
  '[AL170] [AL171] %s is sent back what it said, with what its provider wants with it, in the next step and after a restart',
  async (model, parts) => {
    const script = inOrder(step, { text: 'It says x.' });
    const first = await setupTurns({ model, script, tools: [echo], models: KEYS });
    const runId = await first.start('echo x');
    await first.ended(runId);
    expect(sent(first.openai.requests[1])).toMatchObject(parts);

    const again = await first.restarted({ script: () => ({ text: 'Still x.' }) });
    expect((await again.runs.send(runId, { input: 'and now?' })).ok).toBe(true);
    await again.ended(runId);
    expect(sent(again.openai.requests[0]).slice(0, parts.length)).toMatchObject(parts);
  },
);

test('[AL170] thoughts that the provider keeps to itself go back to it', async () => {
  const { turn, openai } = await setupTurns({
    model: 'anthropic:claude-sonnet-5-5',
    script: inOrder({ ...step, redacted: 'ZW5jcnlwdGVk' }, { text: 'ok' }),
    tools: [echo],
    models: KEYS,
  });
  await turn('go');
  expect(sent(openai.requests[1])[0]).toEqual({ type: 'redacted_thinking', data: 'ZW5jcnlwdGVk' });
});

test('[AL172] another model is sent neither the thoughts nor the ids of the first', async () => {
  const first = await setupTurns({
    model: 'anthropic:claude-sonnet-5-5',
    script: inOrder(step, { text: 'done' }),
    tools: [echo],
    models: KEYS,
  });
  const runId = await first.start('go');
  await first.ended(runId);
  const again = await first.restarted({ script: () => ({ text: 'Hello.' }) });
  await again.runs.send(runId, { input: 'next', model: 'anthropic:claude-opus-5-5' });
  await again.ended(runId);
  const body = JSON.stringify(again.openai.requests[0]?.body);
  expect(body).toContain(step.text);
  for (const own of [step.reasoning, step.signature, 'call_of_the_model']) {
    expect(body).not.toContain(own);
  }
});

test('[AL171] an id that a model gives twice is sent once; the second call has its own of this server', async () => {
  const call = { name: 'demo_echo', id: 'same' };
  const { turn, openai } = await setupTurns({
    script: inOrder(
      { calls: [{ ...call, args: { text: '1' } }] },
      { calls: [{ ...call, args: { text: '2' } }] },
      { text: 'ok' },
    ),
    tools: [echo],
  });
  await turn('go');
  expect(openai.requests[2]?.toolResults).toEqual([
    { id: 'same', text: 'echo 1' },
    { id: 'tc_2', text: 'echo 2' },
  ]);
});

test('[AL173] what a provider wants back is on no wire', async () => {
  const script = inOrder(step, { text: 'done' });
  const model = 'anthropic:claude-sonnet-5-5';
  const { turn, bus } = await setupTurns({ model, script, tools: [echo], models: KEYS });
  const run = await turn('go');
  const wire = JSON.stringify([run, bus.events]);
  expect(wire).toContain(step.reasoning);
  expect(wire).not.toContain(step.signature);
});

test('[AL174] of long thoughts the message shows the beginning, and all of them go back', async () => {
  const thoughts = 'thought '.repeat(12_000);
  const { turn, openai, bus } = await setupTurns({
    model: 'anthropic:claude-sonnet-5-5',
    script: inOrder({ ...step, reasoning: thoughts, pieceChars: 500 }, { text: 'done' }),
    tools: [echo],
    models: KEYS,
  });
  const run = await turn('go');
  const [shown] = partsOf(run).flatMap((part) => (part.type === 'reasoning' ? [part.text] : []));
  expect(shown).toBe(`${thoughts.slice(0, 64 * 1024)}…`);
  expect(texts(partsOf(run))).toEqual(['go', step.text, 'done']);
  expect(sent(openai.requests[1])[0]).toMatchObject({ thinking: thoughts });
  const deltas = bus.events.flatMap((one) => (one.type === 'message_delta' ? [one.delta] : []));
  expect(deltas.join('').length).toBeLessThan(65 * 1024);
});

test('[AL174] of more than 256 KiB nothing goes back', async () => {
  const { turn, openai } = await setupTurns({
    model: 'anthropic:claude-sonnet-5-5',
    script: inOrder({ ...step, reasoning: 'x'.repeat(300_000), pieceChars: 5_000 }, { text: 'ok' }),
    tools: [echo],
    models: KEYS,
  });
  await turn('go');
  expect(sent(openai.requests[1]).map(({ type }) => type)).toEqual(['text', 'tool_use']);
});

test('[AL174] an answer that broke off is not sent back with signatures', async () => {
  const cut: ScriptedReply = { ...step, pieceChars: 100, cut: { after: 2, how: 'clean' } };
  const { turn, runs, openai, bus } = await setupTurns({
    model: 'anthropic:claude-sonnet-5-5',
    script: inOrder(cut, { text: 'ok' }),
    tools: [echo],
    models: KEYS,
  });
  const { run_id } = await turn('go');
  await runs.send(run_id, { input: 'again' });
  await bus.until((event) => event.type === 'message' && texts(event.message.parts)[0] === 'ok');
  expect(JSON.stringify(openai.requests[1]?.body)).not.toContain(step.signature);
});

test('[AL151] of what a provider gave to be sent back, a part with a secret is not kept', () => {
  const { hide } = createSecrets([{ kind: 'configured', value: 'canary-7f3a' }]);
  const draft = createReplayDraft();
  draft.metadata(0, { openai: { itemId: 'rs_1', note: 'of canary-7f3a' } });
  draft.metadata(1, { openai: { itemId: 'rs_2' } });
  draft.reasoning(1, 'It is canary-7f3a');
  draft.metadata(2, { openai: { itemId: 'msg_1' } });
  const shown = [undefined, 'It is [redacted:configured]', 'done'];
  expect(draft.finish('openai:gpt-4o', shown, hide)).toEqual({
    model: 'openai:gpt-4o',
    parts: [{ at: 2, metadata: { openai: { itemId: 'msg_1' } } }],
  });
});
