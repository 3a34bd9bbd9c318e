import { describe, expect, test } from 'vitest';
import { isRecord } from '#lib/json/is-record';
import type { Script, ScriptedRequest } from '../../testing/scripted-openai.ts';
import type { ScriptedReply } from '../../testing/scripted-openai-events.ts';
import { Lessons, NO_LESSON } from './lessons.ts';
import {
  echo,
  inOrder,
  notices,
  partsOf,
  setupTurns,
  type TurnSetup,
} from './testing/setup-turns.ts';

const MODEL = 'compatible:any';
const refused = (message: string, status = 400): ScriptedReply => ({ status, error: { message } });

/** Refuses what `refusal` says, and answers the rest as `script` does; its index counts what was taken. */
function picky(refusal: (request: ScriptedRequest) => ScriptedReply | undefined, script: Script) {
  const taken: ScriptedRequest[] = [];
  const answer: Script = (request) => {
    const no = refusal(request);
    if (no) return no;
    taken.push(request);
    return script({ ...request, index: taken.length - 1 });
  };
  return { taken, answer };
}

const messagesOf = ({ body }: ScriptedRequest) =>
  Array.isArray(body.messages) ? body.messages.filter(isRecord) : [];

/** One message after the other; how many requests were refused in answer to each, and how it ended. */
async function converse(
  {
    refusal,
    script,
    ...setup
  }: Omit<TurnSetup, 'script'> & {
    refusal: Parameters<typeof picky>[0];
    script: Script;
  },
  inputs: readonly string[],
) {
  const { taken, answer } = picky(refusal, script);
  const board = await setupTurns({ model: MODEL, ...setup, script: answer });
  const turns: [status: string | undefined, refusals: number][] = [];
  let runId = '';
  for (const input of inputs) {
    const before = board.openai.requests.length - taken.length;
    if (runId === '') runId = await board.start(input);
    else await board.runs.send(runId, { input });
    await expect.poll(async () => (await board.runs.get(runId))?.status).not.toBe('running');
    const { status } = (await board.runs.get(runId)) ?? {};
    turns.push([status, board.openai.requests.length - taken.length - before]);
  }
  const run = await board.runs.get(runId);
  return { ...board, runId, taken, turns, reported: run ? notices(partsOf(run)) : [] };
}

const camera = {
  name: 'camera.shoot',
  run: ({ of }: Record<string, unknown>) => ({
    output: 'done',
    attachments: [{ blob_id: `blob_${of}`, media_type: 'image/png', size: 3 }],
  }),
};
const shoot = (of: string): ScriptedReply => ({ calls: [{ name: 'camera_shoot', args: { of } }] });
const seeing = {
  tools: [camera],
  models: { settings: { [MODEL]: { images: true } } },
};

describe('[AL220] a picture that is refused', () => {
  test.each([
    'Could not process image',
    'Bad Request',
    'messages.2.content: unknown variant `image_url`',
  ])('is not sent again in that run, and others are: %s', async (message) => {
    const isBad = ({ images }: ScriptedRequest) =>
      images.some((one) => one.includes(btoa('blob_bad')));
    const { turns, reported, taken } = await converse(
      {
        ...seeing,
        refusal: (request) => (isBad(request) ? refused(message) : undefined),
        script: inOrder(shoot('bad'), { text: 'without it' }, shoot('good'), { text: 'I see' }),
      },
      ['look', 'and now?', 'thanks'],
    );
    expect(turns).toEqual([
      ['idle', 1],
      ['idle', 0],
      ['idle', 0],
    ]);
    expect(reported).toEqual(['images_refused']);
    expect(taken.at(-1)?.images).toHaveLength(1);
  });

  test.each([
    [500, 'image input is not supported - hint: you may need to provide the mmproj'],
    [415, 'Unsupported media type'],
    [undefined, 'Provider returned error'],
  ])('is not sent again where a failure names it: %s, %s', async (status, message) => {
    const failed = { error: { message, metadata: { raw: 'Could not process image' } } };
    const no = status ? refused(message, status) : { raw: `data: ${JSON.stringify(failed)}\n\n` };
    const { turns } = await converse(
      {
        ...seeing,
        refusal: ({ images }) => (images.length > 0 ? no : undefined),
        script: inOrder(shoot('bad'), { text: 'without it' }),
      },
      ['look', 'thanks'],
    );
    expect(turns).toEqual([
      ['idle', 1],
      ['idle', 0],
    ]);
  });

  test('is sent to no model that takes none, in any run', async () => {
    const { turns, start, ended, openai } = await converse(
      {
        ...seeing,
        refusal: ({ images }) =>
          images.length > 0 ? refused('any is not a multimodal model', 422) : undefined,
        script: ({ index }) => (index % 2 === 0 ? shoot('x') : { text: 'ok' }),
      },
      ['look'],
    );
    expect(turns).toEqual([['idle', 1]]);
    const before = openai.requests.length;
    await ended(await start('look again'));
    expect(openai.requests.length - before).toBe(2);
  });
});

const hasField = (name: string) => (request: ScriptedRequest) =>
  JSON.stringify(request.body).includes(`"${name}":`);

describe('[AL220] what a provider names is not sent to that model any more', () => {
  test.each([
    ['stream_options', 'Unrecognized request argument supplied: stream_options'],
    ['parallel_tool_calls', 'body.parallel_tool_calls: Extra inputs are not permitted'],
    ['reasoning_content', 'messages[1].reasoning_content: property is unsupported'],
    ['tool_choice', 'tool_choice is not allowed here'],
    ['stream_options', 'Unprocessable'],
  ])('%s: %s', async (field, message) => {
    const thinking = { reasoning: 'hm', calls: [{ name: 'demo_echo', args: { text: 'x' } }] };
    const { turns, reported, start, ended, openai } = await converse(
      {
        tools: [echo],
        models: { settings: { [MODEL]: { parallel_calls: false } } },
        refusal: (request) => (hasField(field)(request) ? refused(message, 422) : undefined),
        script: ({ index }) => (index % 2 === 0 ? thinking : { text: 'ok' }),
      },
      ['go', 'go on'],
    );
    expect(turns).toEqual([
      ['idle', 1],
      ['idle', 0],
    ]);
    expect(reported).toEqual(['content_refused']);
    const before = openai.requests.length;
    await ended(await start('another'));
    expect(openai.requests.slice(before).filter(hasField(field))).toEqual([]);
  });

  test.each([
    "Invalid schema for function 'demo_odd': None is not of type 'object'",
    '{"loc":["body","tools",1,"function","parameters"],"msg":"Field required"}',
  ])('a tool is left out: %s', async (message) => {
    const { turns, taken } = await converse(
      {
        tools: [echo, { ...echo, name: 'demo.odd' }],
        refusal: ({ toolNames }) => (toolNames.includes('demo_odd') ? refused(message) : undefined),
        script: () => ({ text: 'ok' }),
      },
      ['go', 'go on'],
    );
    expect(turns).toEqual([
      ['idle', 1],
      ['idle', 0],
    ]);
    expect(taken[0]?.toolNames).toEqual(['demo_echo']);
  });

  test('ids of calls get nine letters or digits, and calls of others some thoughts', async () => {
    const calls = (request: ScriptedRequest) =>
      messagesOf(request).filter(({ tool_calls }) => Array.isArray(tool_calls));
    const { turns } = await converse(
      {
        tools: [echo],
        refusal: (request) => {
          const text = JSON.stringify(calls(request));
          if (text.includes('call_0'))
            return refused('Tool call id was call_0 but must be a-z, A-Z, 0-9');
          const isThoughtless = calls(request).some((one) => !one.reasoning_content);
          return isThoughtless ? refused('reasoning_content is missing at index 2') : undefined;
        },
        script: inOrder(
          { calls: [{ name: 'demo_echo', args: { text: 'x' }, id: 'call_0' }] },
          { text: 'ok' },
        ),
      },
      ['go', 'go on'],
    );
    expect(turns).toEqual([
      ['idle', 2],
      ['idle', 0],
    ]);
  });
});

describe('[AL220] fields of messages that a server wants are sent to that model from then on', () => {
  const nameless = ({ role, name }: Record<string, unknown>) => role === 'tool' && !name;
  test.each([
    [
      'text beside calls',
      'invalid message content type: <nil>',
      ({ content }: Record<string, unknown>) => content === null,
      { content: '' },
    ],
    ['the name of a tool', 'Name cannot be empty', nameless, { name: 'demo_echo' }],
  ])('%s', async (_, message, lacks, filled) => {
    const { turns, taken, reported } = await converse(
      {
        tools: [echo],
        refusal: (request) => (messagesOf(request).some(lacks) ? refused(message) : undefined),
        script: ({ index }) =>
          index % 2 === 0
            ? { calls: [{ name: 'demo_echo', args: { text: 'x' } }] }
            : { text: 'ok' },
      },
      ['go', 'go on'],
    );
    expect(turns).toEqual([
      ['idle', 1],
      ['idle', 0],
    ]);
    expect(taken.slice(-1).flatMap(messagesOf)).toContainEqual(expect.objectContaining(filled));
    expect(reported).toEqual([]);
  });
});

describe('[AL220] words that a provider refuses for ever', () => {
  test('end a turn, and not the conversation: what is older is not sent with the next message', async () => {
    const isBad = ({ body }: ScriptedRequest) => JSON.stringify(body.messages).includes('bad one');
    const { turns, taken, reported } = await converse(
      {
        tools: [echo],
        refusal: (request) => (isBad(request) ? refused('Content Exists Risk') : undefined),
        script: inOrder(
          { calls: [{ name: 'demo_echo', args: { text: 'bad one' } }] },
          { text: 'ok' },
        ),
      },
      ['go', 'and now?', 'still there?'],
    );
    expect(turns).toEqual([
      ['failed', 2],
      ['idle', 2],
      ['idle', 0],
    ]);
    const last = JSON.stringify(taken.at(-1)?.body);
    expect(last).toContain('and now?');
    // What did not help is sent again.
    expect(last).toContain('stream_options');
    expect(reported).toContain('history_left_out');
    expect(reported).not.toContain('content_refused');
  });
});

test.each([401, 402, 403, 404, 408, 429])('[AL220] HTTP %i is about no content', async (status) => {
  const { turns } = await converse(
    {
      ...seeing,
      refusal: ({ images }) => (images.length > 0 ? refused('stream_options', status) : undefined),
      script: inOrder(shoot('x'), { text: 'ok' }),
    },
    ['look'],
  );
  expect(turns).toEqual([['failed', 1]]);
});

describe('[AL221] a context that is full', () => {
  const size = ({ body }: ScriptedRequest) => JSON.stringify(body.messages).length;
  test.each<[string, number, string]>([
    [
      'named',
      400,
      "This model's maximum context length is 8192 tokens. However, you requested 9001 tokens (8501 in the messages, 500 in the completion).",
    ],
    ['named after a sign', 400, 'prompt is too long: 9001 tokens > 8192 maximum'],
    ['not named', 413, 'Request Entity Too Large'],
    [
      'of a minute',
      413,
      'Request too large on tokens per minute (TPM): Limit 8192, Requested 9001, please reduce your message size. https://console.groq.com/settings/billing',
    ],
    ...[
      "This model's maximum prompt length is 8192 but the request contains 9001 tokens.",
      'prompt token count of 9001 exceeds the limit of 8192',
      'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8192. Given: 9001 `inputs` tokens and 100 `max_new_tokens`',
      '`inputs` must have less than 8192 tokens. Given: 9001',
      'Prompt length 9001 is greater than max_seq_len 8192',
      'Prompt exceeds max length',
      'Prompt 超长',
      'max_tokens must be at least 1, got -809.',
      'litellm.ContextWindowExceededError: over limit',
      'Total tokens of image and text exceed max message tokens.',
    ].map((words): [string, number, string] => [words, 400, words]),
    ['not named, and no refusal of content', 500, 'the request exceeds the available context size'],
  ])(
    'is learnt where its limit is %s: older turns go, and it is not met again',
    async (_name, status, message) => {
      const { turns, taken, reported } = await converse(
        {
          refusal: (request) => (size(request) > 28_000 ? refused(message, status) : undefined),
          script: () => ({ text: 'ok' }),
        },
        [...Array.from({ length: 6 }, (_, at) => `${at} ${'word '.repeat(1_200)}`), 'and now?'],
      );
      expect(turns.map(([ended]) => ended)).toEqual(Array(7).fill('idle'));
      const refusals = turns.map(([, count]) => count);
      expect(refusals.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(3);
      expect(refusals.at(-1)).toBe(0);
      expect(JSON.stringify(taken.at(-1)?.body)).toContain('and now?');
      expect(reported).toContain('history_left_out');
    },
  );

  test('fails where the newest message alone is too long', async () => {
    const { turns } = await converse(
      {
        refusal: (request) =>
          size(request) > 4_000 ? refused('context length exceeded') : undefined,
        script: () => ({ text: 'ok' }),
      },
      ['word '.repeat(2_000), 'shorter'],
    );
    expect(turns.map(([ended]) => ended)).toEqual(['failed', 'idle']);
  });
});

test('[AL220] what a thousand models and a thousand runs were refused is kept, the newest of it', () => {
  const lessons = new Lessons();
  const lesson = { ...NO_LESSON, isBlind: true, older: 3 };
  for (let n = 0; n <= 1_000; n += 1) lessons.keep(`model ${n}`, `run ${n}`, lesson);
  expect(lessons.of('model 0', 'run 0')).toEqual(NO_LESSON);
  expect(lessons.of('model 1', 'run 1')).toEqual(lesson);
});
