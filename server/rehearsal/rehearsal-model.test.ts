import type {
  JSONSchema7,
  LanguageModelV4CallOptions,
  LanguageModelV4Prompt,
} from '@ai-sdk/provider';
import { describe, expect, test } from 'vitest';
import { createBrowserTools } from '#lib/browser-tools/browser-tools';
import { everyPart, everyPrompt } from '#lib/browser-tools/testing/every-part';
import { toModelName } from '#lib/protocol/tool-name';
import { markUntrusted } from '#lib/text/untrusted';
import { systemClock } from '../runs/agent/testing/fakes.ts';
import { fillArguments } from './fill-arguments.ts';
import { planAnswer } from './plan-answer.ts';
import { createRehearsalModel } from './rehearsal-model.ts';

const string = (description = '') => ({ type: 'string', description });
const object = (properties: object, required: string[] = []): JSONSchema7 => ({
  type: 'object',
  properties: { ...properties },
  required,
});

const OF_BROWSERS = [
  ...['browser.screenshot', 'geolocation.get', 'device.info', 'camera.photo', 'clipboard.read'],
  ...['clipboard.write', 'notification.show', 'page.text', 'battery.read'],
];

/** Name, description, schema, as clients and server offer them. */
const OFFERED: [string, string, JSONSchema7][] = [
  ...createBrowserTools(everyPart, everyPrompt)
    .filter(({ name }) => OF_BROWSERS.includes(name))
    .map(({ name, description, parameters }): [string, string, JSONSchema7] => [
      toModelName(name),
      description,
      JSON.parse(JSON.stringify(parameters)),
    ]),
  [
    'weather_query',
    'Returns the present weather and the forecast of up to 7 days for a city, or for coordinates (latitude and longitude together). Temperatures are in °C, wind in km/h.',
    object({
      city: string('Name of a city, e.g. "Lisbon"'),
      latitude: { type: 'number' },
      longitude: { type: 'number' },
      days: { type: 'integer' },
    }),
  ],
  [
    'database_query',
    'Runs one read-only SQL statement (SQLite) on the history of this workbench: runs, calls, messages. Returns {columns, rows, row_count, truncated}, at most 200 rows. To see what there is: select name, sql from sqlite_schema. Put values into params and ? into the SQL.',
    object({ sql: string(), params: { type: 'array' } }, ['sql']),
  ],
  [
    'calculation_eval',
    'Computes an arithmetic expression exactly as written, e.g. "2 * (3 + 4) ^ 2". Operators: + - * / ^ % !. Constants: pi, e, tau. Functions: abs, sqrt, round; angles are radians. No variables, units or texts.',
    object({ expression: string('The expression, e.g. "sqrt(2) * 10"') }, ['expression']),
  ],
];

const TOOLS = OFFERED.map(([name, description, inputSchema]) => ({
  type: 'function' as const,
  name,
  description,
  inputSchema,
}));

const asks = (text: string): LanguageModelV4Prompt => [
  { role: 'system', content: 'You are …' },
  { role: 'user', content: [{ type: 'text', text }] },
];

const plan = (text: string, tools: LanguageModelV4CallOptions['tools'] = TOOLS) =>
  planAnswer({ prompt: asks(text), ...(tools ? { tools } : {}) });

const called = (text: string) =>
  plan(text).calls.map(({ name, args }) => (Object.keys(args).length > 0 ? [name, args] : name));

describe('plain requests', () => {
  test.each<[string, unknown[]]>([
    ['Take a screenshot', ['browser_screenshot']],
    ['please make a screen shot of this', ['browser_screenshot']],
    ['截图', ['browser_screenshot']],
    ['帮我截个屏，谢谢。截屏', ['browser_screenshot']],
    ['Where am I?', ['geolocation_get']],
    ['What is my current position', ['geolocation_get']],
    ['tell me my location', ['geolocation_get']],
    ['我在哪里？', ['geolocation_get']],
    ['告诉我现在的位置', ['geolocation_get']],
    ['weather in Berlin', [['weather_query', { city: 'Berlin' }]]],
    ['What is the weather in New York today?', [['weather_query', { city: 'New York' }]]],
    ['weather in berlin', [['weather_query', { city: 'berlin' }]]],
    ['Forecast for Tokyo, 3 days', [['weather_query', { city: 'Tokyo', days: 3 }]]],
    ['北京的天气', [['weather_query', { city: '北京' }]]],
    ['请告诉我上海今天的天气怎么样', [['weather_query', { city: '上海' }]]],
    ['2+3*4', [['calculation_eval', { expression: '2+3*4' }]]],
    ['what is 12.5 / (3 - 1)?', [['calculation_eval', { expression: '12.5 / (3 - 1)' }]]],
    ['计算 7×8', [['calculation_eval', { expression: '7*8' }]]],
    ['What is on the clipboard?', ['clipboard_read']],
    ['剪贴板里有什么', ['clipboard_read']],
    ['copy "hello world" to the clipboard', [['clipboard_write', { text: 'hello world' }]]],
    ['take a photo', ['camera_photo']],
    ['take a photo with the user camera', [['camera_photo', { facing: 'user' }]]],
    ['拍照', ['camera_photo']],
    ['notify me that tea is ready', [['notification_show', { title: 'tea is ready' }]]],
    ['提醒我喝水', [['notification_show', { title: '喝水' }]]],
    ['what device am I on', ['device_info']],
    ['我用的是什么浏览器', ['device_info']],
    ['我用的是什么设备？', ['device_info']],
    ['电量还有多少', ['battery_read']],
    ['read the page', ['page_text']],
    ['take a screenshot of this page', [['browser_screenshot', { mode: 'page' }]]],
    [
      'a screenshot of this page and my position',
      [['browser_screenshot', { mode: 'page' }], 'geolocation_get'],
    ],
    ['页面上的文字是什么', ['page_text']],
    ['select count(*) from calls', [['database_query', { sql: 'select count(*) from calls' }]]],
  ])('[AL80] %s', (text, expected) => {
    expect(called(text)).toEqual(expected);
  });

  test.each<[string, string[]]>([
    ['Take a screenshot and tell me where I am', ['browser_screenshot', 'geolocation_get']],
    ['截图，然后告诉我我在哪里', ['browser_screenshot', 'geolocation_get']],
    [
      'a photo, a screenshot and the weather in Rome',
      ['browser_screenshot', 'camera_photo', 'weather_query'],
    ],
    ['2+3*4 and the weather in Berlin', ['calculation_eval', 'weather_query']],
  ])('[AL81] %s', (text, expected) => {
    expect(
      plan(text)
        .calls.map(({ name }) => name)
        .toSorted(),
    ).toEqual(expected);
  });

  test('[AL82] one word brings one tool of a family', () => {
    expect(called('clipboard')).toEqual(['clipboard_read']);
  });

  const custom = [
    {
      type: 'function' as const,
      name: 'phone_vibrate',
      description: 'Vibrate the phone',
      inputSchema: object({ ms: { type: 'integer' } }, ['ms']),
    },
    {
      type: 'function' as const,
      name: 'greenhouse_waterPlants',
      description: 'Open the valve of the greenhouse',
      inputSchema: object({ litres: { type: 'number' } }, ['litres']),
    },
    {
      type: 'function' as const,
      name: 'door',
      description: '打开车库的大门',
      inputSchema: object({}),
    },
  ];

  test.each<[string, string, Record<string, unknown>]>([
    ['vibrate for 200', 'phone_vibrate', { ms: 200 }],
    ['震动 300', 'phone_vibrate', { ms: 300 }],
    ['water the plants with 2.5 litres', 'greenhouse_waterPlants', { litres: 2.5 }],
    ['call phone.vibrate with {"ms": 5}', 'phone_vibrate', { ms: 5 }],
    ['请打开车库', 'door', {}],
  ])('[AL83] tools it never saw: %s', (text, name, args) => {
    expect(plan(text, custom).calls).toEqual([{ name, args }]);
  });

  test.each(['Hello!', 'Tell me a joke', '你好', 'On 2026-11-21 we met', ''])(
    '[AL84] %j calls nothing and lists what there is',
    (text) => {
      const answer = plan(text);
      expect(answer.calls).toEqual([]);
      expect(answer.text).toContain('`browser_screenshot`');
    },
  );

  test('[AL84] without tools it answers that there are none', () => {
    expect(plan('screenshot', []).text).toContain('no tools');
    expect(planAnswer({ prompt: asks('截图') }).text).toContain('没有可用的工具');
  });
});

describe('arguments', () => {
  test.each<[string, unknown, string, Record<string, unknown>]>([
    [
      'a word of an enum',
      { enum: ['low', 'high'], type: 'string' },
      'set it HIGH please',
      { x: 'high' },
    ],
    [
      'a word of an enum with hyphens and dots',
      { enum: ['linux-chrome-3f9de4', 'v1.2/x'], type: 'string' },
      'on linux-chrome-3f9de4 please',
      { x: 'linux-chrome-3f9de4' },
    ],
    ['a number', { type: 'number' }, 'about -2.5 of it', { x: -2.5 }],
    ['a boolean by its name', { type: 'boolean' }, 'the torch, x=true', { x: true }],
    [
      'a URL',
      string('The url to open'),
      'open https://example.org/a?b=1 now',
      { x: 'https://example.org/a?b=1' },
    ],
    ['quoted text', string(), 'say "good morning"', { x: 'good morning' }],
    ['Chinese quotes', string(), '朗读“早上好”', { x: '早上好' }],
    [
      'a list of numbers',
      { type: 'array', items: { type: 'number' } },
      'the mean of 1 2 3',
      { x: [1, 2, 3] },
    ],
    [
      'one that may be null',
      { anyOf: [{ type: 'null' }, { type: 'integer' }] },
      'take 4',
      { x: 4 },
    ],
    ['a default', { type: 'integer', default: 9 }, 'go', { x: 9 }],
    ['its own name', string(), 'go x=abc, y', { x: 'abc' }],
  ])('[AL85] a required argument is read: %s', (_, property, text, expected) => {
    expect(fillArguments(object({ x: property }, ['x']), text)).toEqual({
      args: expected,
      missing: [],
    });
  });

  test('[AL85] two texts get one quotation each', () => {
    const schema = object({ title: string(), body: string() }, ['title', 'body']);
    expect(fillArguments(schema, 'notify me "Tea" "It is ready"').args).toEqual({
      title: 'Tea',
      body: 'It is ready',
    });
  });

  test('[AL86] what is missing is asked for, and what is complete is called', () => {
    const answer = plan('screenshot, and look into the database');
    expect(answer.calls).toEqual([{ name: 'browser_screenshot', args: {} }]);
    expect(answer.text).toContain('`database_query` needs `sql`');
    expect(plan('复制').text).toContain('`clipboard_write` 还需要：`text`');
  });

  test('[AL87] optional arguments are left out unless they are named', () => {
    const schema = object({
      note: string(),
      count: { type: 'integer' },
      mode: { enum: ['a1', 'b2'] },
    });
    expect(fillArguments(schema, 'do it "now" 5').args).toEqual({});
    expect(fillArguments(schema, 'do it, count: 5, mode b2').args).toEqual({
      count: 5,
      mode: 'b2',
    });
  });

  test.each([null, true, {}, { properties: [] }, { properties: { a: null }, required: 5 }])(
    '[AL85] an odd schema %j breaks nothing',
    (schema) => {
      expect(fillArguments(schema, 'x {broken').missing).toEqual([]);
    },
  );
});

describe('the report', () => {
  const answered = (text: string, value: string): LanguageModelV4Prompt => [
    ...asks(text),
    {
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: 'tc_1', toolName: 'geolocation_get', input: {} }],
    },
    {
      role: 'tool',
      content: [
        {
          type: 'tool-result',
          toolCallId: 'tc_1',
          toolName: 'geolocation_get',
          output: { type: 'text', value },
        },
      ],
    },
  ];
  const answerTo = (prompt: LanguageModelV4Prompt) => planAnswer({ prompt, tools: TOOLS });

  test('[AL88] a value is given in words, and nothing is called again', () => {
    const answer = answerTo(answered('Where am I?', '{"latitude":52.52,"place":"Berlin"}'));
    expect(answer.calls).toEqual([]);
    expect(answer.text).toContain('`geolocation_get` returned: latitude 52.52, place Berlin');
    expect(answer.text).toContain('not an LLM');
  });

  test('[AL88] so is a value beside a picture, with the words for the picture', () => {
    const value = '{"width":640,"mode":"page"}\n[picture 1 640×480 image/webp: the page]';
    expect(answerTo(answered('Show me', value)).text).toContain(
      'returned: width 640, mode page [picture 1 640×480 image/webp: the page]',
    );
  });

  test('[AL88] the mark of words of others is not repeated, where a picture was not sent either', () => {
    const value = '{"width":640}\n[picture 1 640×480 image/webp: the page]';
    const notShown = '[Not shown to you: picture 1; this model is sent no pictures.]';
    const { text } = answerTo(answered('Show me', `${markUntrusted(value)}\n${notShown}`));
    expect(text).toContain('returned: width 640 [picture 1 640×480 image/webp: the page]');
    expect(text).not.toContain('untrusted');
  });

  test('[AL88] a failure is given with its reason', () => {
    const error = { code: 'denied', message: 'The person said no', executed: 'no' };
    const answer = answerTo(answered('Where am I?', JSON.stringify({ error })));
    expect(answer.text).toContain('did not succeed: The person said no (denied)');
  });

  test.each(['null', '', '{"error":"E"}', '[1]', '{broken'])(
    '[AL88] a value that only looks odd is not a failure: %s',
    (value) => {
      expect(answerTo(answered('Where am I?', value)).text).toContain('returned: ');
    },
  );

  test('[AL88] a question in Chinese is answered in Chinese', () => {
    expect(answerTo(answered('我在哪里', '52')).text).toContain('返回：52');
    expect(answerTo(answered('我在哪里', '52')).text).toContain('不是大语言模型');
  });

  test('[AL88] a new message after results is a new request', () => {
    const answer = answerTo([
      ...answered('Where am I?', '52'),
      ...asks('Take a screenshot').slice(1),
    ]);
    expect(answer.calls.map(({ name }) => name)).toEqual(['browser_screenshot']);
  });
});

async function readAll<T>(stream: ReadableStream<T>): Promise<T[]> {
  const parts: T[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

describe('the stream', () => {
  const model = createRehearsalModel({ clock: systemClock, paceMs: 0 });
  const read = async (text: string) => {
    const { stream } = await model.doStream({ prompt: asks(text), tools: TOOLS });
    return readAll(stream);
  };

  test('[AL89] arguments come in pieces that make the whole', async () => {
    const parts = await read('weather in Berlin');
    const deltas = parts.flatMap((part) => (part.type === 'tool-input-delta' ? [part.delta] : []));
    expect(deltas.length).toBeGreaterThan(3);
    expect(deltas.join('')).toBe('{"city":"Berlin"}');
    expect(parts.at(-1)).toMatchObject({ type: 'finish', finishReason: { unified: 'tool-calls' } });
  });

  test('[AL89] it answers the same each time', async () => {
    expect(await read('截图 2+3')).toEqual(await read('截图 2+3'));
  });

  test('[AL89] it stops in mid-word when it is aborted', async () => {
    const never = createRehearsalModel({
      clock: { now: () => 0, schedule: () => () => undefined },
      paceMs: 1,
    });
    const controller = new AbortController();
    const { stream } = await never.doStream({ prompt: asks('x'), abortSignal: controller.signal });
    const reading = readAll(stream);
    controller.abort(new Error('stopped'));
    await expect(reading).rejects.toThrow('stopped');
  });
});

test.each([
  ['show me all the notes', undefined],
  ['read all', undefined],
  ['client=all read the notes', 'all'],
  ['read the note on all my devices', 'all'],
  ['read the note on every phone', 'all'],
  ['在所有设备上读取便笺', 'all'],
  ['read the note of pixel', 'pixel'],
])('[AL87] "%s" names the client %s', (text, client) => {
  const schema = object({ client: { type: 'string', enum: ['pixel', 'desk', 'all'] } });
  expect(fillArguments(schema, text).args).toEqual(client === undefined ? {} : { client });
});
