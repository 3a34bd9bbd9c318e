import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { withNamedCalls } from './mend-tool-calls.ts';

/** What comes out when a server sends these bytes in these pieces. */
async function repaired(
  pieces: readonly Uint8Array[],
  type = 'text/event-stream',
): Promise<string> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  const answer = async () => new Response(body, { headers: { 'content-type': type } });
  return (await withNamedCalls(answer)('http://models.test')).text();
}

const bytes = (text: string) => new TextEncoder().encode(text);
const events = (...chunks: unknown[]) =>
  chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('');
const chat = (tool_calls: unknown[], finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta: { tool_calls }, finish_reason }],
});
const callsIn = (text: string): unknown[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .flatMap((line) => JSON.parse(line.slice(6)).choices[0].delta.tool_calls ?? []);

describe('the chat API', () => {
  test('[AL104] a name that comes in a later piece is waited for, and no argument is lost', async () => {
    const text = events(
      chat([{ index: 0, id: 'call_1', function: { name: '', arguments: '{"a' } }]),
      chat([{ index: 0, function: { arguments: '":' } }]),
      chat([{ index: 0, function: { name: 'demo', arguments: '1' } }]),
      chat([{ index: 0, function: { arguments: '}' } }]),
      chat([], 'tool_calls'),
    );
    expect(callsIn(await repaired([bytes(text)]))).toEqual([
      { index: 0, id: 'call_1', function: { name: 'demo', arguments: '{"a":1' } },
      { index: 0, function: { arguments: '}' } },
    ]);
  });

  test('[AL104] one that never comes is given at the end, beside calls that have theirs', async () => {
    const named = { index: 0, id: 'call_1', function: { name: 'demo', arguments: '{}' } };
    const text = events(
      chat([named, { index: 1, id: 'call_2', function: { name: 42, arguments: '{"a":' } }]),
      chat([{ index: 1, function: { arguments: '2}' } }]),
      { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
    );
    expect(callsIn(await repaired([bytes(text)]))).toEqual([
      named,
      {
        index: 1,
        id: 'call_2',
        type: 'function',
        function: { name: '(no name)', arguments: '{"a":2}' },
      },
    ]);
  });

  test('[AL104] what needs no mending passes byte for byte, however it is cut', async () => {
    const text = [
      ': comment\r\n',
      'data: {"choices":[{"index":0,"delta":{"content":"tool_calls 你好 😀"}}]}\r\n\r\n',
      events(
        chat([{ index: 0, id: 'a', function: { name: 'x', arguments: '' } }]),
        chat([{ index: 0, function: { name: '', arguments: '{"tool_calls": 1}' } }]),
        chat([{ function: { arguments: ' ' } }]),
      ),
      'data: {"tool_calls": broken\n\ndata: [DONE]\n\n',
      'data: "tool_calls"',
    ].join('');
    const whole = bytes(text);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 40 }), async (size) => {
        const pieces = Array.from({ length: Math.ceil(whole.length / size) }, (_, n) =>
          whole.slice(n * size, (n + 1) * size),
        );
        expect(await repaired(pieces)).toBe(text);
      }),
      { numRuns: 20 },
    );
  });
});

test('[AL104] an item of the Responses API without name or id gets what the SDK needs', async () => {
  const item = (more: object) => ({
    type: 'response.output_item.added',
    item: { type: 'function_call', id: 'fc_1', arguments: '', ...more },
  });
  const text = events(item({ name: null }), item({ name: 'demo', call_id: 'call_1' }));
  const [first, second] = (await repaired([bytes(text)])).split('\n\n');
  expect(first).toContain('"name":"(no name)"');
  expect(first).toContain('"call_id":""');
  expect(`${second}\n\n`).toBe(events(item({ name: 'demo', call_id: 'call_1' })));
});

test('[AL104] an answer other than an event stream is left as it is', async () => {
  const text = 'data: {"choices":[{"delta":{"tool_calls":[{"index":0}]}}]}\n';
  expect(await repaired([bytes(text)], 'application/json')).toBe(text);
});
