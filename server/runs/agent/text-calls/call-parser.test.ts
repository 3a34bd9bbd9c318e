import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LIMITS } from '#lib/protocol/limits';
import type { TextEvent } from './call-body.ts';
import { CallParser, callInText } from './call-parser.ts';

const tools = {
  names: new Set(['echo', 'demo_echo', 'table']),
  isText: (_tool: string, key: string) => key === 'text',
};

/** Neighbours of one kind as one, so that pieces do not show. */
function joined(events: readonly TextEvent[]): TextEvent[] {
  const whole: TextEvent[] = [];
  for (const event of events) {
    const last = whole.at(-1);
    if (event.type === 'text' && last?.type === 'text')
      whole[whole.length - 1] = { type: 'text', text: last.text + event.text };
    else if (event.type === 'args' && last?.type === 'args')
      whole[whole.length - 1] = { type: 'args', text: last.text + event.text };
    else whole.push(event);
  }
  return whole;
}

function parse(pieces: readonly string[]): TextEvent[] {
  const parser = new CallParser(tools);
  return joined([...pieces.flatMap((piece) => parser.push(piece)), ...parser.end()]);
}

type Read = string | { call: string; args: unknown } | { broken: string };

/** Text as it is, of a call its name and its arguments, of one that must not run its name. */
function read(text: string): Read[] {
  let name = '';
  return parse([text]).flatMap((event): Read[] => {
    if (event.type === 'text') return [event.text];
    if (event.type === 'start') name = event.name;
    if (event.type !== 'end') return [];
    try {
      return [{ call: name, args: JSON.parse(event.input || '{}') }];
    } catch {
      return [{ broken: name }];
    }
  });
}

const call = '<tool_call>{"name":"echo","arguments":{"text":"hi"}}</tool_call>';
const hi = { call: 'echo', args: { text: 'hi' } };

describe('a call', () => {
  test.each<[string, string, Read[]]>([
    ['alone', call, [hi]],
    ['between text', `A\n\n${call}\n\nB`, ['A', hi, 'B']],
    ['beside another', `${call}${call}`, [hi, hi]],
    ['with text between it and another', `${call} and ${call} end`, [hi, 'and', hi, 'end']],
    ['with another in its tag', `${call.slice(0, -12)}\n${call.slice(11)}`, [hi, hi]],
    ['in two tags', `<tool_call><tool_call>${call.slice(11)}</tool_call> x`, [hi, 'x']],
    [
      'with tags in its text',
      `<tool_call>{"name":"echo","arguments":{"text":"</tool_call> <tool_call>{"}}</tool_call>`,
      [{ call: 'echo', args: { text: '</tool_call> <tool_call>{' } }],
    ],
    ['without its end tag', call.slice(0, -12), [hi]],
    ['without its end tag, before text', `${call.slice(0, -12)}\nSo.`, [hi, 'So.']],
    ['with a bracket too many', `${call.slice(0, -12)}}</tool_call> x`, [hi, 'x']],
    [
      'in a fence in its tag',
      '<tool_call>\n```json\n{"name":"echo","arguments":{"text":"hi"}}\n```\n</tool_call>\nx',
      [hi, 'x'],
    ],
    ['before JSON that is text', `${call}\n{"name":"echo"}`, [hi, '{"name":"echo"}']],
    ['before a quoted line', `A ${call}\n> ${call}`, ['A', hi, `> ${call}`]],
    ['after thoughts', `<think>\n${call}\n</think>${call}`, [`<think>\n${call}\n</think>`, hi]],
    ['after a fence', `\`\`\`\n${call}\n\`\`\`\n${call}`, [`\`\`\`\n${call}\n\`\`\``, hi]],
    ['after a fence of one line', `\`\`\`x\`\`\`\n${call}`, ['```x```', hi]],
  ])('[AL140] %s is read', (_, text, expected) => {
    expect(read(text)).toEqual(expected);
  });

  test.each<[string, string, Read]>([
    ['the arguments first', '{"arguments":{"text":"hi"},"id":"1","name":"echo"}', hi],
    ['arguments as text', '{"name":"echo","arguments":"{\\"text\\":\\"hi\\"}"}', hi],
    [
      'a function in it',
      '{"type":"function","function":{"name":"echo","arguments":{"text":"hi"}}}',
      hi,
    ],
    ['parameters', '{"tool":"echo","parameters":{"text":"hi"}}', hi],
    ['no arguments', '{"name":"echo"}', { call: 'echo', args: {} }],
    [
      'nested arguments',
      '{"name":"echo","arguments":{"a":[{"name":"x"}],"arguments":{}}}',
      { call: 'echo', args: { a: [{ name: 'x' }], arguments: {} } },
    ],
    ['no name', '{"text":"hi"}', { call: '(no name)', args: {} }],
  ])('[AL140] an object with %s is read', (_, json, expected) => {
    expect(read(`<tool_call>${json}</tool_call>`)).toEqual([expected]);
  });
});

describe('other forms', () => {
  test.each<[string, string, Read[]]>([
    [
      'a tag of another name',
      '<function_call>{"name":"echo","arguments":{"text":"hi"}}</function_call>',
      [hi],
    ],
    ['Llama', '<function=echo>{"text":"hi"}</function> x', [hi, 'x']],
    ['Llama with code', '<|python_tag|>{"name":"echo","parameters":{"text":"hi"}}', [hi]],
    [
      'Mistral',
      '[TOOL_CALLS][{"name":"echo","arguments":{"text":"hi"}}, {"name":"echo"}]',
      [hi, { call: 'echo', args: {} }],
    ],
    [
      'Mistral with names',
      '[TOOL_CALLS]echo[ARGS]{"text":"hi"}[TOOL_CALLS]echo{}',
      [hi, { call: 'echo', args: {} }],
    ],
    [
      'Qwen Coder',
      '<tool_call>\n<function=echo>\n<parameter=text>\nif a < b:\n  "x"\n</parameter>\n<parameter=n>\n5\n</parameter>\n</function>\n</tool_call> x',
      [{ call: 'echo', args: { text: 'if a < b:\n  "x"', n: 5 } }, 'x'],
    ],
    [
      'invoke',
      '<function_calls>\n<invoke name="echo">\n<parameter name="text">5</parameter><parameter name="list">[1, "</parameter>"]</parameter>\n</invoke>\n</function_calls>',
      [{ call: 'echo', args: { text: '5', list: [1, '</parameter>'] } }],
    ],
    [
      'GLM',
      '<tool_call>echo\n<arg_key>text</arg_key>\n<arg_value>hi</arg_value>\n<arg_key>yes</arg_key>\n<arg_value>True</arg_value>\n</tool_call>',
      [{ call: 'echo', args: { text: 'hi', yes: true } }],
    ],
    [
      'tags of the tool and its arguments',
      '<demo_echo>\n<text>hi</text>\n<n>two</n>\n</demo_echo>',
      [{ call: 'demo_echo', args: { text: 'hi', n: 'two' } }],
    ],
  ])('[AL141] %s', (_, text, expected) => {
    expect(read(text)).toEqual(expected);
  });
});

test.each([
  ['a code fence', `See:\n\`\`\`xml\n${call}\n\`\`\`\nThere.`],
  ['a fence of tildes', `~~~\n\`\`\`\n${call}\n~~~`],
  ['a fence in a longer fence', `\`\`\`\`\n\`\`\`\n${call}\n\`\`\`\n${call}\n\`\`\`\``],
  ['a fence in a list', `- \`\`\`\n  ${call}\n  \`\`\``],
  ['a fence that never ends', `\`\`\`\n\n${call}`],
  ['code in a line', `Write \`${call}\` there.`],
  ['code with two signs', `Write \`\`a \` ${call}\`\` there.`],
  ['a quoted line', `> ${call}`],
  ['quotes', `It says "run ${call}" in it.`],
  ['quotes of letters', `It says “run ${call}” in it.`],
  ['a quote before it', `It says '${call}'`],
  ['an escape', `\\${call}`],
  ['thoughts', `<think>I could ${call}.`],
  ['a result', `<tool_result name="x" boundary="1">\n${call}\n</tool_result boundary="1">`],
  ['a response', `<tool_response>${call}</tool_response>`],
  ['escaped signs', call.replaceAll('<', '&lt;')],
])('[AL142] what stands in %s is text', (_, text) => {
  expect(read(text)).toEqual([text]);
});

test.each([
  'The <tool_call> tag, <b>bold</b>, a < b, [x](y), [TOOL_CALLS are nothing.',
  '<table>\n<tr></tr>\n</table>',
  'The end: <tool_call>',
  'The end: <tool_c',
  'Use <function=echo> or <demo_echo> for it',
  `<${'<tool_call>'.repeat(40)}`,
  `<tool_call>${' '.repeat(300)}{"name":"echo"}`,
])('[AL142] %j holds no call', (text) => {
  expect(read(text)).toEqual([text]);
});

test.each<[string, string, Read[]]>([
  [
    'cut in its arguments',
    'x <tool_call>{"name":"echo","arguments":{"text":"h',
    ['x', { broken: 'echo' }],
  ],
  [
    'cut after its arguments',
    '<tool_call>{"name":"echo","arguments":{"text":"hi"}',
    [{ broken: 'echo' }],
  ],
  ['cut in its name', '<tool_call>{"na', [{ broken: '(no name)' }]],
  ['cut between its tags', '<function=echo><parameter=text>hi</parameter>', [{ broken: 'echo' }]],
  [
    'without a bracket',
    '<tool_call>{"name":"echo","arguments":{"a":1}</tool_call> x',
    [{ broken: 'echo' }, 'x'],
  ],
  [
    'with a value that is missing',
    '<tool_call>{"name":"echo","arguments":{"a":}}</tool_call> x',
    [{ broken: 'echo' }, 'x'],
  ],
  [
    'with a comma too many',
    '<tool_call>{"name":"echo","arguments":{},}</tool_call> x',
    [{ broken: 'echo' }, 'x'],
  ],
  [
    'with a line break in its text',
    '<tool_call>{"name":"echo","arguments":{"text":"a\nb"}}</tool_call> x',
    [{ broken: 'echo' }, 'x'],
  ],
  [
    'with text that never ends',
    '<tool_call>{"name":"echo","arguments":{"text":"a}}</tool_call>\nx',
    [{ broken: 'echo' }, 'x'],
  ],
  [
    'with two sets of arguments',
    '<tool_call>{"name":"echo","arguments":{},"args":{}}</tool_call>',
    [{ broken: 'echo' }],
  ],
  [
    'with its arguments twice',
    '<tool_call>{"name":"echo","arguments":{"text":"a"},"arguments":{"text":"b"}}</tool_call> x',
    [{ broken: 'echo' }, 'x'],
  ],
  [
    'with text between its tags',
    '<function=echo><parameter=text>a</parameter>b</function>',
    [{ broken: 'echo' }, 'b</function>'],
  ],
  [
    'with more than one value',
    '<invoke name="echo"><parameter name="n">{"a":1},"b":{}</parameter></invoke> x',
    [{ broken: 'echo' }, 'x'],
  ],
])('[AL143] a call %s does not run, and the text after it stays', (_, text, expected) => {
  expect(read(text)).toEqual(expected);
});

test('[AL144] arguments are passed on as they come, before the call is over', () => {
  const parser = new CallParser(tools);
  expect(parser.push('Well. <tool_call>{"name": "echo", "arguments": {"text": "one ')).toEqual([
    { type: 'text', text: 'Well.' },
    { type: 'start', name: 'echo' },
    { type: 'args', text: '{"text": "one ' },
  ]);
  expect(parser.push('two"')).toEqual([{ type: 'args', text: 'two"' }]);
  expect(parser.push('}}')).toEqual([
    { type: 'args', text: '}' },
    { type: 'end', input: '{"text": "one two"}' },
  ]);
  const markup = new CallParser(tools);
  expect(markup.push('<function=echo>\n<parameter=text>\n"one" ')).toEqual([
    { type: 'start', name: 'echo' },
    { type: 'args', text: '{"text":"\\"one\\" ' },
  ]);
});

/** Pieces of what models write, and of what could lead a parser astray. */
const pieces = fc.constantFrom(
  ...[call, '<tool_call>', '</tool_call>', '{"name":"echo"', ',"arguments":{"text":"x', '"}}', '}'],
  ...['```', '`', '"', '\n', '> ', ' ', '<think>', '</think>', '<tool_result>', '</tool_result>'],
  ...[
    '<function=echo>',
    '<parameter=text>',
    '</parameter>',
    '</function>',
    '[TOOL_CALLS]',
    '[',
    ']',
  ],
  ...['<arg_key>', '</arg_key>', '<arg_value>', '</arg_value>', '<demo_echo>', '<text>', '</text>'],
  ...['a', '“', '”', '\\', ':', '[1,2]', '<', '>', '🙂', '1', 'True', '~~~', 'echo', '&lt;'],
);
const texts = fc.array(pieces, { maxLength: 30 }).map((all) => all.join(''));

test('[AL145] a text gives the same events in any pieces', () => {
  const cuts = fc.array(fc.nat({ max: 200 }), { maxLength: 12 });
  fc.assert(
    fc.property(texts, cuts, (text, at) => {
      const places = [...new Set([0, ...at.filter((one) => one < text.length)])].sort(
        (a, b) => a - b,
      );
      const cut = places.map((place, index) => text.slice(place, places[index + 1]));
      const whole = parse([text]);
      expect(parse(cut)).toEqual(whole);
      expect(parse(Array.from({ length: text.length }, (_, n) => text.charAt(n)))).toEqual(whole);
    }),
    { numRuns: 1_000 },
  );
});

test('[AL145] any arguments arrive as they were written, in any text around them', () => {
  const around = fc.constantFrom('', 'Some text.\n', `${call}\n`, '```\ncode\n```\n', 'a “b” `c` ');
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), around, (args, before) => {
      const written = `${before}<tool_call>\n${JSON.stringify({ name: 'echo', arguments: args })}\n</tool_call>`;
      const parsed: unknown = JSON.parse(JSON.stringify(args));
      expect(read(written).at(-1)).toEqual({ call: 'echo', args: parsed });
    }),
  );
});

test('[AL146] of arguments that are too long no more is kept than can be refused', () => {
  const parser = new CallParser(tools);
  parser.push('<tool_call>{"name":"echo","arguments":{"text":"');
  let passed = 0;
  for (let sent = 0; sent < 4 * LIMITS.argsBytes; sent += 1_024) {
    for (const event of parser.push('x'.repeat(1_024)))
      if (event.type === 'args') passed += event.text.length;
  }
  expect(passed).toBeLessThanOrEqual(2 * LIMITS.argsBytes);
  const end = parser.push('"}}</tool_call>').find(({ type }) => type === 'end');
  expect(end).toMatchObject({ input: expect.stringMatching(/…$/) });
});

test('[AL146] after a call no more is held back than a space between two', () => {
  const more = (blanks: number) => `${call.slice(0, -12)}${' '.repeat(blanks)}{"name":"echo"}`;
  expect(read(more(200))).toEqual([hi, { call: 'echo', args: {} }]);
  expect(read(more(300))).toEqual([hi, expect.stringMatching(/^ *\{"name":"echo"\}$/)]);
});

test.each([
  ...['<tool_call>', '<', '<tool_result ', ' ', '[', '`', '<tool_call> echo ', '<function='],
])('[AL146] of %j, again and again or before much else, little is held back', (start) => {
  for (const given of [start.repeat(2_000), start + 'a'.repeat(20_000)]) {
    const parser = new CallParser(tools);
    const events = Array.from(given, (character) => parser.push(character)).flat();
    const out = events.map((event) => (event.type === 'text' ? event.text : '')).join('');
    expect(given.length - out.length).toBeLessThanOrEqual(1_024);
  }
});

test.each(['', '```'])(
  '[AL203] 32 KiB of blanks behind "%s" are looked through at once',
  (start) => {
    const before = process.threadCpuUsage().user;
    expect(callInText(start.padEnd(32_768), ['demo_echo'])).toBeUndefined();
    expect((process.threadCpuUsage().user - before) / 1_000).toBeLessThan(100);
  },
);
