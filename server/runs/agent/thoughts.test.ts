import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { MessagePart } from '#lib/protocol/run';
import type { Script } from '../../testing/scripted-openai.ts';
import { echo, inOrder, MODELS, notices, partsOf, setupTurns } from './testing/setup-turns.ts';
import { ThoughtReader } from './thoughts.ts';

/** Texts and thoughts, in order; `null` where the text before was a thought. */
function piecesOf(texts: readonly string[]): (readonly [string, string] | null)[] {
  const reader = new ThoughtReader();
  const pieces = [...texts.flatMap((text) => reader.push(text)), ...reader.end()];
  const all: ([string, string] | null)[] = [];
  for (const piece of pieces) {
    const last = all.at(-1);
    if (piece.kind === 'rethink') all.push(null);
    else if (last?.[0] === piece.kind) last[1] += piece.text;
    else all.push([piece.kind, piece.text]);
  }
  return all;
}

const CASES: [string, ([string, string] | null)[]][] = [
  [
    '<think>why</think>\n\nSo.',
    [
      ['reasoning', 'why'],
      ['text', 'So.'],
    ],
  ],
  [
    '\n<Thinking>\na < b</thinking>So.',
    [
      ['reasoning', '\na < b'],
      ['text', 'So.'],
    ],
  ],
  [
    '[THINK]why[/THINK]So.',
    [
      ['reasoning', 'why'],
      ['text', 'So.'],
    ],
  ],
  ['why\n</think>\n\nSo.', [['text', 'why\n'], null, ['text', 'So.']]],
  [
    'One.\n<think>why</think>Two.',
    [
      ['text', 'One.\n'],
      ['reasoning', 'why'],
      ['text', 'Two.'],
    ],
  ],
  ['<think>never closed', [['reasoning', 'never closed']]],
  ['Write `<think>` or "</think>" first.', [['text', 'Write `<think>` or "</think>" first.']]],
  ['```\n<think>x</think>\n```\nSo.', [['text', '```\n<think>x</think>\n```\nSo.']]],
  ['a <think>b</think', [['text', 'a <think>b</think']]],
  ['a <b>c</b> [1] <', [['text', 'a <b>c</b> [1] <']]],
];

test.each(CASES)('[AL202] %j is read in one way, in whatever pieces it comes', (text, expected) => {
  expect(piecesOf([text])).toEqual(expected);
  const cuts = fc.array(fc.integer({ min: 0, max: text.length }), { maxLength: 6 });
  fc.assert(
    fc.property(cuts, (places) => {
      const at = [0, ...places.toSorted((a, b) => a - b), text.length];
      const pieces = at.slice(1).map((end, n) => text.slice(at[n], end));
      expect(piecesOf(pieces)).toEqual(expected);
    }),
    { numRuns: 30 },
  );
});

const answerOf = (parts: MessagePart[]) =>
  parts.flatMap((part) => ('text' in part ? [[part.type, part.text]] : [])).slice(1);

describe.each(MODELS)('over %s', (model) => {
  test.each([
    ['<think>I must not say six.</think>Rolled.'],
    ['I must not say six.</think>\nRolled.'],
  ])('[AL202] %s: thoughts are reasoning, on disk as well, and are not sent back', async (text) => {
    const script: Script = inOrder({ text }, { text: 'Again.' });
    const { turn, runs, openai } = await setupTurns({ model, script });
    const run = await turn('roll');
    const expected = [
      ['reasoning', 'I must not say six.'],
      ['text', 'Rolled.'],
    ];
    expect(answerOf(partsOf(run))).toEqual(expected);
    await runs.send(run.run_id, { input: 'again' });
    while (openai.requests.length < 2) await new Promise((resolve) => setImmediate(resolve));
    expect(JSON.stringify(openai.requests[1]?.body)).not.toContain('must not say');
  });

  test.each([
    '<tool_call>\n{"name": "demo_echo", "arguments": {}}\n</tool_call>',
    '<function=demo_echo>{}</function>',
    '[TOOL_CALLS][{"name": "demo_echo", "arguments": {}}]',
    '<｜tool▁call▁begin｜>function<｜tool▁sep｜>demo_echo\n```json\n{}\n```',
    '{"name": "demo_echo", "parameters": {}}',
    '<|python_tag|>{"name": "demo_echo", "parameters": {}}',
    '[demo_echo(text="x")]',
    '[TOOL_CALLS]demo_echo[CALL_ID]abcdefghi[ARGS]{"text": "x"}',
    '```tool_code\ndemo_echo(text="x")\n```',
    'functools[{"name": "demo_echo", "arguments": {"text": "x"}}]',
    'I call it.\n```json\n{"name": "demo_echo", "arguments": {"text": "x"}}\n```',
    '<start_function_call>call:demo_echo{text:x}<end_function_call>',
    '{"tool_calls":[{"type":"function","function":{"name":"demo_echo"}}]}',
  ])('[AL203] a call as text does not run, and a notice says what to set: %s', async (text) => {
    const { turn, calls } = await setupTurns({ model, script: () => ({ text }), tools: [echo] });
    const run = await turn('echo');
    expect(notices(partsOf(run))).toEqual(['calls_as_text']);
    expect(JSON.stringify(partsOf(run))).toContain('tool_calling');
    expect(calls.records.size).toBe(0);
  });

  test('[AL203] text about calls, and a call in code, is text', async () => {
    const text = 'Write `<tool_call>{"name": "demo_echo"}</tool_call>` or demo_echo({}).';
    const { turn } = await setupTurns({ model, script: () => ({ text }), tools: [echo] });
    expect(notices(partsOf(await turn('how?')))).toEqual([]);
  });

  test.each([
    ['a fence', '```json\n{"text":"x"}\n```', 'x'],
    ['a tag behind', '{"text":"x"}</tool_call>', 'x'],
    ['a mark behind', '{"text":"x"}<|call|>', 'x'],
    ['a bracket too many', '{"text":"x"}}', 'x'],
    ['a line break in a string', '{"text":"x\ny"}', 'x\ny'],
    ['the same object twice', '{"text":"x"}{"text":"x"}', 'x'],
    ['an empty object before it', '{}{"text":"x"}', 'x'],
  ])('[AL204] arguments with %s are read', async (_, args, text) => {
    const script = inOrder({ calls: [{ name: 'demo_echo', args }] }, { text: 'done' });
    const { turn, calls } = await setupTurns({ model, script, tools: [echo] });
    await turn('go');
    expect(calls.records.get('tc_1')).toMatchObject({ status: 'SUCCEEDED', args: { text } });
  });

  test.each(['{"text":"x"}{"text":"y"}', '{"text": nonsense}', '{"text":"x"} and more'])(
    '[AL204] of arguments %s nothing runs, and the model is shown what it wrote',
    async (args) => {
      const script = inOrder({ calls: [{ name: 'demo_echo', args }] }, { text: 'Sorry.' });
      const { turn, openai, calls } = await setupTurns({ model, script, tools: [echo] });
      await turn('go');
      expect(calls.records.get('tc_1')).toMatchObject({ status: 'FAILED' });
      const written = JSON.stringify(JSON.stringify({ arguments_as_written: args }));
      expect(JSON.stringify(openai.requests[1]?.body)).toContain(written.slice(1, -1));
    },
  );

  test.each(['{"text":"x', ''])(
    '[AL205] arguments %j that the output limit cut are asked for once more, then the turn ends',
    async (args) => {
      const cut = { calls: [{ name: 'demo_echo', args }], finishReason: 'length' as const };
      const { turn, openai, calls } = await setupTurns({
        ...{ model, script: () => cut, tools: [echo] },
      });
      const run = await turn('go');
      expect(openai.requests).toHaveLength(2);
      expect(JSON.stringify(openai.requests[1]?.body)).toContain('output limit was reached');
      expect(notices(partsOf(run))).toEqual(['arguments_cut']);
      expect([...calls.records.values()].map(({ error }) => error?.reason)).toEqual([
        ...['arguments_cut', 'arguments_cut'],
      ]);
    },
  );
});
