import { expect, test } from 'vitest';
import type { FakeTool } from './testing/fakes.ts';
import { inOrder, setupTurns } from './testing/setup-turns.ts';
import type { TurnDeps } from './turn.ts';

const image = {
  blob_id: 'blob_1',
  media_type: 'image/png',
  size: 5,
  width: 2,
  height: 1,
  alt: 'a page',
};
const shot: FakeTool = { name: 'shot', run: () => ({ output: 'taken', attachments: [image] }) };
const script = inOrder({ calls: [{ name: 'shot', args: { a: 1 } }] }, { text: 'nice' });
const data = `data:image/jpeg;base64,${btoa('blob_1')}`;
const description = 'taken\n[picture 1 2×1 image/png: a page]';

test('[AL12] the Responses API gets them in the result', async () => {
  const { turn, openai } = await setupTurns({ model: 'openai:gpt-4o', script, tools: [shot] });
  await turn('go');
  expect(openai.requests[1]?.images).toEqual([data]);
  const [result] = openai.requests[1]?.toolResults ?? [];
  expect(JSON.parse(result?.text ?? '')).toMatchObject([
    { type: 'input_text', text: description },
    { type: 'input_image', image_url: data },
  ]);
});

test.each(['openai-chat:gpt-4o', 'compatible:llava:7b'])(
  '[AL12] %s gets the description as result and the picture from a user',
  async (model) => {
    const settings = { 'compatible:llava:7b': { images: true } };
    const { turn, openai } = await setupTurns({
      ...{ model, script, tools: [shot], models: { settings } },
    });
    await turn('go');
    expect(openai.requests[1]?.toolResults).toEqual([{ id: 'call_1', text: description }]);
    expect(openai.requests[1]?.images).toEqual([data]);
    expect(openai.requests[1]?.body.messages).toMatchObject([
      { role: expect.stringMatching(/system|developer/) },
      { role: 'user' },
      { role: 'assistant' },
      { role: 'tool' },
      // A server of which nobody says what it takes (AL48).
      ...(model.startsWith('compatible:') ? [{ role: 'assistant' }] : []),
      { role: 'user' },
    ]);
  },
);

test('[AL12] a model that takes none gets the description only', async () => {
  const { turn, openai } = await setupTurns({
    model: 'compatible:qwen3:8b',
    script,
    tools: [shot],
  });
  await turn('go');
  expect(openai.requests[1]?.images).toEqual([]);
  const text = `${description}\n[Not shown to you: picture 1; this model is sent no pictures.]`;
  expect(openai.requests[1]?.toolResults).toEqual([{ id: 'call_1', text }]);
});

test('[AL13] a picture that cannot be read or scaled is described', async () => {
  const images: TurnDeps['images'] = {
    readBlob: async () => ({ bytes: new Uint8Array() }),
    scaleForModel: async () => ({ ok: false, message: 'no picture' }),
  };
  const { turn, openai } = await setupTurns({
    model: 'openai:gpt-4o',
    script,
    tools: [shot],
    agent: { images },
  });
  const run = await turn('go');
  expect(run.status).toBe('idle');
  expect(openai.requests[1]?.toolResults[0]?.text).toMatch(/Not shown to you: picture 1; .*read/);
});

test('[AL13] only the newest four are sent', async () => {
  const six = Array.from({ length: 6 }, (_, index) => ({ ...image, blob_id: `blob_${index}` }));
  const many: FakeTool = { name: 'shot', run: () => ({ output: 'taken', attachments: six }) };
  const { turn, openai } = await setupTurns({ model: 'openai:gpt-4o', script, tools: [many] });
  await turn('go');
  expect(openai.requests[1]?.images).toEqual(
    [2, 3, 4, 5].map((index) => `data:image/jpeg;base64,${btoa(`blob_${index}`)}`),
  );
});
