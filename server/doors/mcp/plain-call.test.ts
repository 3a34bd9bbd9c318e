import { expect, test } from 'vitest';
import { z } from 'zod';
import { AGENT, setupMcp } from './testing/setup-mcp.ts';

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {}, roots: {} },
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
};
/** The library takes it as it takes any other key; no plain call has it. */
const UNUSUAL = { ...META, 'example.com/unusual': 1 };

const HEADERS = {
  ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
  ...{ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'echo' },
};
const ROOM = { makeRoom: async () => {}, resizeRoom: () => {} };

const typed = {
  name: 'echo',
  parameters: { type: 'object', properties: { n: { type: 'number' } } },
};

async function setup() {
  const world = await setupMcp();
  world.client.offer({ description: 'Echoes', timeout_ms: 600_000, ...typed });
  const { signal } = new AbortController();
  const ask = (body: object, headers: object = {}) =>
    world.mcp.answer({
      ...{ agent: AGENT, sessionId: undefined, signal, body, ...ROOM },
      headers: { ...HEADERS, ...headers },
    });
  const message = (_meta: object, args: unknown = { n: 1 }, name = 'echo') => ({
    ...{ jsonrpc: '2.0', id: 'seven', method: 'tools/call' },
    params: { name, arguments: args, _meta },
  });
  return { ...world, ask, message };
}

const answerSchema = z.record(z.string(), z.unknown());

/** By the library, or without it; ids of calls aside. */
async function read(answer: Awaited<ReturnType<Awaited<ReturnType<typeof setup>>['ask']>>) {
  const isOfLibrary = answer instanceof Response;
  const text = isOfLibrary ? await answer.text() : JSON.stringify(answer.json);
  const json = answerSchema.parse(JSON.parse(text.replaceAll(/tc_\w+/g, 'tc_1')));
  return { isOfLibrary, status: isOfLibrary ? answer.status : 200, json };
}

test('[MP61] a plain call is answered without the library, as the library answers it', async () => {
  const { ask, message, asked, client, clock } = await setup();
  const ends: ((id: string) => void)[] = [
    (id) => client.succeed(id, { words: ['a', 'b'] }),
    (id) => client.fail(id, 'It is broken'),
    () => clock.advance(50_000),
  ];
  for (const [at, end] of ends.entries()) {
    const answers = [];
    for (const [nth, meta] of [META, UNUSUAL].entries()) {
      const answer = ask(message(meta));
      end((await asked(2 * at + nth + 1))?.id ?? '');
      answers.push(await read(await answer));
    }
    const [plain, ofLibrary] = answers;
    expect([plain?.isOfLibrary, ofLibrary?.isOfLibrary]).toEqual([false, true]);
    expect(plain?.json).toEqual(ofLibrary?.json);
  }
  const [refused, ofLibrary] = await Promise.all(
    [META, UNUSUAL].map(async (meta) => read(await ask(message(meta, { n: 'x' })))),
  );
  expect(refused?.isOfLibrary).toBe(false);
  expect(JSON.stringify(refused?.json)).toContain('It did not run.');
  expect(refused?.json).toEqual(ofLibrary?.json);
});

test('[MP61] what is unusual or wrong is the library’s to answer', async () => {
  const { ask, message } = await setup();
  const plain = message(META);
  const wrong: [body: object, headers?: object][] = [
    [{ ...plain, id: 1.5 }],
    [{ ...plain, more: 1 }],
    [message(META, [])],
    [message({ ...META, 'io.modelcontextprotocol/clientCapabilities': { roots: 1 } })],
    [plain, { 'mcp-name': 'other' }],
    [plain, { 'mcp-method': 'tools/list' }],
    [plain, { 'mcp-protocol-version': '2025-11-25' }],
    [plain, { 'content-type': 'text/plain' }],
  ];
  for (const [body, headers] of wrong) {
    const { isOfLibrary, json } = await read(await ask(body, headers));
    expect([isOfLibrary, 'error' in json], JSON.stringify([body, headers])).toEqual([true, true]);
  }
});
