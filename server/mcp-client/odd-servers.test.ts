import { expect, test, vi } from 'vitest';
import { boundedFetch } from './bounded-fetch.ts';
import { type Answer, resultFor, startOddServer } from './testing/odd-server.ts';
import { setupServers } from './testing/setup-servers.ts';

async function connected(answer: Answer, options: Parameters<typeof startOddServer>[1] = {}) {
  const odd = await startOddServer(answer, options);
  const world = await setupServers({ servers: { files: { url: odd.url } } });
  await world.until('files', { state: 'connected' });
  return { ...odd, world };
}

const WORDS = { type: 'text', text: 'kept words' };

const RESULTS: Readonly<Record<string, unknown>> = {
  'isError: null': { isError: null, content: [WORDS] },
  'content in place of a list': { content: 'kept words' },
  'no list of content': { content: null, structuredContent: { note: 'kept words' } },
  'annotations that are none': { content: [{ ...WORDS, annotations: { priority: 2 } }] },
  'a block of a kind that is not known': { content: [WORDS, { type: 'video', data: 'AAAA' }] },
  'a number as text': { content: [{ type: 'text', text: 42 }, WORDS] },
  '_meta: null': { _meta: null, content: [WORDS] },
  'a list': [WORDS],
  'a text': 'kept words',
  'fields of its own': { answer: 'kept words' },
  'a type that is none': { resultType: 7, content: [WORDS] },
};

test.each(Object.keys(RESULTS).flatMap((name) => [[name, false] as const, [name, true] as const]))(
  '[MC80] a result with %s (as a stream: %s) is read as far as it can be',
  async (name, asStream) => {
    const { world } = await connected(
      (asked) => (asked.method === 'tools/call' ? resultFor(asked, RESULTS[name]) : undefined),
      { asStream },
    );
    const { id } = await world.calls.invoke('files.one');
    const call = await world.ended(id);
    expect(call).toMatchObject({ status: 'SUCCEEDED' });
    expect(JSON.stringify(call.result)).toContain('kept words');
  },
);

test.each([
  ['an error beside it', (message: object) => ({ ...message, error: null })],
  ['no jsonrpc', ({ jsonrpc: _, ...message }: { jsonrpc?: string }) => message],
  ['fields that are not known', (message: object) => ({ ...message, took_ms: 3 })],
  ['a list around it', (message: object) => [message]],
  ['the method of its request', (message: object) => ({ ...message, method: 'tools/call' })],
] as const)('[MC80] a result with %s reaches its call, as JSON and as stream', async (_, mend) => {
  for (const asStream of [false, true]) {
    const { world } = await connected(
      (asked) => {
        const usual = resultFor(asked, { content: [WORDS] });
        return asked.method === 'tools/call' ? mend(usual) : undefined;
      },
      { asStream },
    );
    const { id } = await world.calls.invoke('files.one');
    expect(await world.ended(id)).toMatchObject({ result: 'kept words' });
  }
});

test.each([
  ['beside the message', { message: 'Internal error', data: { details: 'disk full' } }],
  ['in a field of its own', { detail: 'disk full' }],
])('[MC80] why a call failed is kept where it is %s', async (_, why) => {
  const { world } = await connected((asked) =>
    asked.method === 'tools/call'
      ? { jsonrpc: '2.0', id: asked.id, error: { code: -32_603, ...why } }
      : undefined,
  );
  const { id } = await world.calls.invoke('files.one');
  expect((await world.ended(id)).error?.message).toContain('disk full');
});

/** A program that does `call` in the middle of a call. */
const programOf = (call: string) => {
  const script = `
    const answers = {
      initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: {} },
      'tools/list': { tools: [{ name: 'one' }] },
    };
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method } = JSON.parse(line);
      if (id === undefined) return;
      const print = (json) => console.log(JSON.stringify({ jsonrpc: '2.0', id, ...json }));
      const answer = (result) => print({ result });
      const error = { code: -32601, message: 'No' };
      if (method === 'tools/call') ${call};
      else if (answers[method]) answer(answers[method]);
      else print({ error });
    });`;
  return { files: { command: process.execPath, args: ['-e', script] } };
};

test('[MC20] a program that ends in the middle of a call says in its failure how, and its last words', async () => {
  const call = "process.exit(console.error('first\\nout of memory') ?? 139)";
  const world = await setupServers({ servers: programOf(call) });
  await world.until('files', { state: 'connected' });
  const { id } = await world.calls.invoke('files.one');
  const { error } = await world.ended(id);
  expect(error).toMatchObject({ code: 'outcome_unknown' });
  expect(error?.message).toContain('exit code 139: out of memory');
});

test.each([400, 404, 500])(
  '[MC80] a server that answers notifications with HTTP %i is connected',
  async (status) => {
    const { world } = await connected((asked, outgoing) =>
      asked.id === undefined ? void outgoing.writeHead(status).end('No') : undefined,
    );
    expect(world.callable()).toContain('files.one');
  },
);

test.each([
  [{ serverInfo: null }],
  [{ serverInfo: { name: 7 } }],
  [{ capabilities: null }],
  [{ capabilities: { tools: true, logging: null, experimental: [] } }],
  [{ instructions: ['Be kind'] }],
  [{ protocolVersion: null }],
  [{ protocolVersion: '1.0' }],
  [{ _meta: [] }],
])('[MC80] a server that says %j of itself is connected', async (more) => {
  const { world } = await connected((asked) => {
    const usual = {
      ...{ protocolVersion: '2025-06-18', capabilities: { tools: {} } },
      serverInfo: { name: 'odd', version: '1' },
    };
    return asked.method === 'initialize' ? resultFor(asked, { ...usual, ...more }) : undefined;
  });
  expect(world.callable()).toContain('files.one');
});

const ONE = { name: 'one', inputSchema: { type: 'object' } };

test.each([
  [{ name: 'odd' }],
  [{ name: 'odd', inputSchema: null }],
  [{ name: 'odd', input_schema: { type: 'object' } }],
  [{ name: 'odd', parameters: { properties: {} } }],
  [{ name: 'odd', inputSchema: {}, annotations: 'none', title: 7, description: null }],
])('[MC81] a tool that is listed as %j is offered as far as it can be read', async (tool) => {
  const { world } = await connected((asked) =>
    asked.method === 'tools/list' ? resultFor(asked, { tools: [ONE, tool] }) : undefined,
  );
  expect(world.callable()).toEqual(expect.arrayContaining(['files.one', 'files.odd']));
});

test.each([
  ['null', null, 1],
  ['an empty text', '', 1],
  ['one that does not move', 'abc', 2],
])('[MC82] pages that end with the cursor %s are read once', async (_, nextCursor, times) => {
  const { world, log } = await connected((asked) =>
    asked.method === 'tools/list' ? resultFor(asked, { tools: [ONE], nextCursor }) : undefined,
  );
  expect(log.filter((one) => one === 'tools/list')).toHaveLength(times);
  expect(world.wire('files')).toMatchObject({ tools: [{ foreign_name: 'one' }], rejected: [] });
});

test('[MC82] what the pages before had is offered where a later page fails', async () => {
  const { world } = await connected((asked) => {
    if (asked.method !== 'tools/list') return undefined;
    const error = { code: -32_602, message: 'Invalid cursor' };
    return asked.params.cursor === undefined
      ? resultFor(asked, { tools: [ONE], nextCursor: 'two' })
      : { jsonrpc: '2.0', id: asked.id, error };
  });
  expect(world.callable()).toContain('files.one');
});

test.each([
  [404, 'Session not found'],
  [400, 'Bad Request: No valid session ID provided'],
  [400, 'Bad Request: Server not initialized'],
  [400, 'No transport found for sessionId'],
  [410, 'Session terminated'],
])(
  '[MC83] a session that the server does not know (%i, %s) is begun anew, and the call made once',
  async (status, message) => {
    let [session, ran] = ['first', 0];
    const { world, log } = await connected((asked, outgoing, { headers }) => {
      if (asked.method === 'server/discover') return undefined;
      if (asked.method === 'initialize') outgoing.setHeader('mcp-session-id', session);
      else if (headers['mcp-session-id'] !== session) {
        const error = { jsonrpc: '2.0', id: null, error: { code: -32_001, message } };
        return void outgoing.writeHead(status).end(JSON.stringify(error));
      }
      if (asked.method === 'tools/call') ran += 1;
      return undefined;
    });
    session = 'second';
    const { id } = await world.calls.invoke('files.one');
    expect(await world.ended(id)).toMatchObject({ status: 'SUCCEEDED', result: 'ran' });
    expect(ran).toBe(1);
    expect(log.filter((one) => one === 'initialize')).toHaveLength(2);
  },
);

test('[MC83] a server that fails while it runs a call, and ends the session, is not asked again', async () => {
  const { world, log } = await connected((asked, outgoing) => {
    if (asked.method === 'initialize') outgoing.setHeader('mcp-session-id', 'any');
    if (asked.method === 'tools/call')
      return void outgoing.writeHead(500).end('Session terminated');
    return undefined;
  });
  const { id } = await world.calls.invoke('files.one');
  expect(await world.ended(id)).toMatchObject({ status: 'FAILED', error: { executed: 'unknown' } });
  expect(log.filter((one) => one === 'tools/call')).toHaveLength(1);
});

test('[MC26] a stream that ends at once is asked for later each time, and what is none not again', async () => {
  const waits: unknown[] = [];
  const odd = await startOddServer(() => undefined, {
    onGet: (outgoing) => void outgoing.writeHead(200, { 'content-type': 'text/html' }).end('Hi'),
  });
  const ask = boundedFetch(1_000, undefined, async (ms) => void waits.push(ms));
  for (const _ of [1, 2, 3]) expect((await ask(odd.url, { method: 'GET' })).status).toBe(405);
  expect(waits).toEqual([2_000, 4_000]);
});

test('[MC84] progress gives a call its time anew, up to the most that the configuration allows', async () => {
  let note = (_: string): void => {};
  const odd = await startOddServer((asked, outgoing) => {
    if (asked.method !== 'tools/call') return undefined;
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
    const { progressToken } = Object(asked.params._meta);
    note = (message) => {
      const params = { progressToken, progress: 1, message };
      const sent = { jsonrpc: '2.0', method: 'notifications/progress', params };
      outgoing.write(`data: ${JSON.stringify(sent)}\n\n`);
    };
    note('At 0');
    return new Promise(() => {});
  });
  const files = { url: odd.url, timeout_s: 10, max_call_s: 25 };
  const world = await setupServers({ servers: { files } });
  await world.until('files', { state: 'connected' });
  const { id } = await world.calls.invoke('files.one');
  for (const seconds of [0, 6, 12, 18, 24]) {
    note(`At ${seconds}`);
    await vi.waitFor(async () => {
      await world.calls.settle();
      expect(world.calls.cardOf(id)).toMatchObject({ status: 'DOING', tip: `At ${seconds}` });
    }, 5_000);
    world.calls.clock.advance(6_000);
  }
  const call = await world.ended(id);
  expect(call).toMatchObject({ status: 'TIMEOUT', error: { clock: 'execute' } });
});

test('[MC20] a program that ends at its start says so, with its exit code', async () => {
  const script = `console.error('Cannot find module x'); process.exit(3);`;
  const world = await setupServers({
    servers: { broken: { command: process.execPath, args: ['-e', script] } },
  });
  await world.until('broken', { state: 'failed' });
  expect(world.wire('broken')).toMatchObject({
    last_error: { message: expect.stringContaining('exit code 3') },
    stderr_tail: expect.stringContaining('Cannot find module x'),
  });
});

test('[MC20] a program that does not answer is given the time that the configuration says', async () => {
  const script = `process.stdin.resume(); setInterval(() => {}, 1_000);`;
  const world = await setupServers({
    servers: { slow: { command: process.execPath, args: ['-e', script], start_timeout_s: 1 } },
  });
  await world.until('slow', { state: 'failed' });
  expect(world.wire('slow').last_error?.message).toContain('start_timeout_s');
});
