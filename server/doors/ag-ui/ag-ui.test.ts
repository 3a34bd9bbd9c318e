import { HttpAgent, type Message } from '@ag-ui/client';
import { EventSchemas } from '@ag-ui/core/schemas';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { redactShapes } from '#lib/text/redact';
import { FIRST_OPERATOR } from '../../auth/principal.ts';
import { keyedId } from '../../auth/secrets.ts';
import { ALLOW_ALL } from '../../calls/testing/allow-all.ts';
import { holdTool } from '../../runs/testing/hold-tool.ts';
import {
  type FrontEndOptions,
  KEY,
  serveFrontEnds,
  TOKENS,
} from '../../testing/serve-front-ends.ts';
import { defineTool } from '../../tools/define-tool.ts';
import { createAgUiService } from './create-ag-ui-service.ts';

const echo = defineTool({
  ...{ name: 'echo', displayName: 'Echo', description: 'Repeats a text' },
  args: z.object({ text: z.string() }),
  effect: 'read',
  timeoutMs: 5_000,
  run: async ({ text }) => ({ output: text }),
});
const secret = defineTool({
  ...{ name: 'secret.read', displayName: 'Secret', description: 'Reads the secret' },
  args: z.object({}),
  effect: 'read',
  timeoutMs: 5_000,
  run: async () => ({ output: 'word 4711' }),
});

/** The client warns of each field that the protocol does not have. */
const warned = vi.spyOn(console, 'warn');
beforeEach(() => void warned.mockClear());
afterEach(() => expect(warned.mock.calls).toEqual([]));

const serve = (options: FrontEndOptions = {}) =>
  serveFrontEnds({ tools: [echo, secret], ...options }, (parts) => ({
    agUi: createAgUiService({ ...parts, hide: redactShapes }),
  }));

interface Opened {
  readonly token?: string;
  readonly threadId?: string;
  readonly messages?: Message[];
}

/** A front end with the checks of the client of AG-UI, and all events that it was sent. */
function frontEnd(
  url: string,
  { token = TOKENS.operator, threadId = 'a thread', messages = [] }: Opened = {},
) {
  const agent = new HttpAgent({
    ...{ url: `${url}/ag-ui`, threadId, initialMessages: messages },
    headers: { authorization: `Bearer ${token}` },
  });
  const events: z.infer<typeof EventSchemas>[] = [];
  const take = (event: unknown) => void events.push(EventSchemas.parse(event));
  agent.subscribe({ onEvent: ({ event }) => take(event) });
  return {
    agent,
    events,
    types: () => events.map(({ type }) => type),
    /** The next message of the person, and the turn that it starts. */
    async send(content: string, id: string = crypto.randomUUID()) {
      events.length = 0;
      agent.addMessage({ id, role: 'user', content });
      await agent.runAgent();
    },
  };
}

test('[AG1] [AG2] the checks of the client accept three turns of the rehearsal model, whose ids are those of the run', async () => {
  const { url, runs, audited } = await serve();
  const { agent, events, types, send } = frontEnd(url);
  const started = () => events.find(({ type }) => type === 'RUN_STARTED');
  await send('calculate 2+3*4');
  const { threadId: runId } = z.object({ threadId: z.string() }).parse(started());
  expect(types().at(-1)).toBe('RUN_FINISHED');
  expect(types()).toEqual(
    expect.arrayContaining([
      'TOOL_CALL_START',
      'TOOL_CALL_ARGS',
      'TOOL_CALL_END',
      'TOOL_CALL_RESULT',
      'ACTIVITY_SNAPSHOT',
      'ACTIVITY_DELTA',
    ]),
  );
  await send('echo text="once more"');
  await send('Good evening');
  const run = await runs.get(runId);
  const ours = run?.messages.filter(({ role }) => role === 'assistant') ?? [];
  const theirs = agent.messages.filter(({ role }) => role === 'assistant');
  expect(theirs.map(({ id }) => id)).toEqual(ours.map(({ message_id }) => message_id));
  const asked = run?.messages.filter(({ role }) => role === 'user') ?? [];
  expect(started()).toMatchObject({ threadId: runId, runId: asked.at(-1)?.message_id });
  const calls = ours.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === 'tool_call' ? [part.tool_call_id] : [])),
  );
  expect(calls.length).toBe(2);
  const activities = agent.messages.filter(({ role }) => role === 'activity');
  expect(activities).toMatchObject(
    calls.map((id) => ({
      id: `card_${id}`,
      activityType: 'callboard.call',
      content: { status: 'SUCCESS' },
    })),
  );
  const results = agent.messages.filter(({ role }) => role === 'tool');
  expect(results).toMatchObject([
    { toolCallId: calls[0] },
    { toolCallId: calls[1], content: 'once more' },
  ]);
  expect(audited).toEqual(['run_started']);
});

/** A request as any program makes it: its status, and its events until it ends or `until` comes. */
async function post(
  url: string,
  body: object,
  { token = TOKENS.operator, until }: { token?: string; until?: string } = {},
) {
  const leaving = new AbortController();
  const response = await fetch(`${url}/ag-ui`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ threadId: 'a thread', messages: [], ...body }),
    signal: leaving.signal,
  });
  if (!response.ok) return { response, json: await response.json(), events: [] };
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString();
    if (until !== undefined && text.includes(until)) break;
  }
  leaving.abort();
  const lines = text.split('\n').filter((line) => line.startsWith('data: ') && line.endsWith('}'));
  const events = lines.map((line) => EventSchemas.parse(JSON.parse(line.slice(6))));
  return { response, json: undefined, events };
}

const user = (content: unknown, id = 'message 1') => ({ id, role: 'user', content });
const runIdOf = (events: readonly unknown[]) =>
  z.object({ threadId: z.string() }).parse(events[0]).threadId;

/** A tool that ends when the test says so. */
function gated() {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const { promise: started, resolve: start } = Promise.withResolvers<void>();
  const tool = defineTool({
    ...{ name: 'gate.pass', displayName: 'Gate', description: 'Waits at the gate' },
    args: z.object({}),
    effect: 'read',
    timeoutMs: 30_000,
    run: async () => {
      start();
      await ended;
      return { output: 'passed' };
    },
  });
  return { tool, started, end };
}

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

describe('a connection that is cut', () => {
  test('[AG5] [AG12] the turn goes on, and the next request gets a snapshot, then what follows', async () => {
    const gate = gated();
    const { url, runs } = await serve({ tools: [gate.tool] });
    const first = await post(url, { messages: [user('gate.pass')] }, { until: 'gate.pass' });
    await gate.started;
    const runId = runIdOf(first.events);
    expect((await runs.get(runId))?.status).toBe('running');
    const { agent, types } = frontEnd(url, {
      messages: [{ id: 'message 1', role: 'user', content: 'gate.pass' }],
    });
    const over = agent.runAgent();
    await expect.poll(() => types()).toContain('ACTIVITY_SNAPSHOT');
    expect(types().slice(0, 3)).toEqual(['RUN_STARTED', 'MESSAGES_SNAPSHOT', 'ACTIVITY_SNAPSHOT']);
    gate.end();
    await over;
    expect(types().at(-1)).toBe('RUN_FINISHED');
    expect(types().filter((type) => type === 'TOOL_CALL_RESULT')).toHaveLength(1);
    const run = await runs.get(runId);
    expect(run?.messages.filter(({ role }) => role === 'user')).toHaveLength(1);
    const texts = agent.messages.flatMap(({ role, content }) =>
      role === 'assistant' && content ? [content] : [],
    );
    const ours = run?.messages.flatMap(({ role, parts }) =>
      role === 'assistant'
        ? [parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n')]
        : [],
    );
    expect(texts).toEqual(ours);
  });

  test('[AG4] one message that is sent twice at once begins one turn', async () => {
    const { url, runs } = await serve();
    const body = { messages: [user('Hello')] };
    const [one, two] = await Promise.all([post(url, body), post(url, body)]);
    expect(runIdOf(one.events)).toBe(runIdOf(two.events));
    const run = await runs.get(runIdOf(one.events));
    expect(run?.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
    const third = await post(url, body);
    expect(third.events.map(({ type }) => type)).toContain('MESSAGES_SNAPSHOT');
    expect((await runs.get(runIdOf(one.events)))?.messages).toHaveLength(2);
  });
});

describe('how a turn ends', () => {
  test('[AG6] one that failed ends with the code of the run', async () => {
    const { url } = await serve({ script: () => ({ status: 401 }) });
    const { events, send } = frontEnd(url);
    await send('Hello');
    expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'model_unauthenticated' });
  });

  test('[AG6] one that was stopped ends as cancelled, with its calls', async () => {
    const { url, runs } = await serve({ tools: [holdTool('demo.hold')] });
    const { types, events, send } = frontEnd(url);
    const over = send('demo.hold');
    await expect.poll(() => types()).toContain('TOOL_CALL_END');
    await runs.cancel(runIdOf(events));
    await over;
    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'cancelled' } });
    expect(types()).toContain('TOOL_CALL_RESULT');
  });

  test('[AG8] an approval is in the activity, the stream stays open, and no front end decides it', async () => {
    const check = () => ({ verdict: 'ask', reason: 'Each call is asked about' }) as const;
    const { url, calls } = await serve({ policy: { ...ALLOW_ALL, check } });
    const { agent, types, send, events } = frontEnd(url);
    const over = send('echo text="hello"');
    const cardOf = () => agent.messages.find(({ role }) => role === 'activity')?.content;
    await expect.poll(cardOf).toMatchObject({ phase: 'approval' });
    const resume = [{ interruptId: 'any', status: 'resolved', payload: { decision: 'yes' } }];
    const { response, json } = await post(url, { resume });
    expect([response.status, json.error.code]).toEqual([400, 'bad_request']);
    expect(types()).not.toContain('RUN_FINISHED');
    expect(cardOf()).toMatchObject({ phase: 'approval' });
    const [call] = calls.watched(runIdOf(events));
    await calls.decide(call?.id ?? '', FIRST_OPERATOR, { decision: 'yes' });
    await over;
    expect(cardOf()).toMatchObject({ status: 'SUCCESS', result: 'hello' });
  });
});

describe('who may do what', () => {
  test('[AG3] the run of another is refused as one that is not there', async () => {
    const { url, start } = await serve();
    const runId = await start('Hello');
    const asked = { messages: [user('What was that?')] };
    const of = async (threadId: string) => {
      const { response, json } = await post(url, { ...asked, threadId }, { token: TOKENS.agent });
      return [response.status, json.error.code, json.error.message.replace(threadId, 'X')];
    };
    const others = await of(runId);
    expect(others).toEqual(await of('run_nowhere'));
    expect(others.slice(0, 2)).toEqual([404, 'run_not_found']);
    // A person sees the runs of all.
    const { events } = await post(url, { threadId: runId }, { token: TOKENS.colleague });
    expect(events.map(({ type }) => type)).toContain('MESSAGES_SNAPSHOT');
  });

  test('[AG3] one name of two callers is two runs', async () => {
    const { url, runs } = await serve();
    const ask = (token: string) => post(url, { messages: [user('Hello')] }, { token });
    const ids = await Promise.all(
      [TOKENS.operator, TOKENS.colleague, TOKENS.agent].map(async (token) =>
        runIdOf((await ask(token)).events),
      ),
    );
    expect(new Set(ids).size).toBe(3);
    expect((await runs.get(ids[2] ?? ''))?.owner).toMatchObject({ token_id: 'tok_helper' });
    const taken = await post(url, { threadId: ids[0] }, { token: TOKENS.agent });
    expect(taken.response.status).toBe(404);
  });

  test('[AG3] a run that a program made under the id of another’s thread is not taken for it', async () => {
    const { url, server, runs } = await serve();
    const id = keyedId(KEY, 'agui', ['operator', 'a thread']);
    const call = { args: { text: 'x' }, run_id: id };
    await server.post('/v1/tools/echo/invoke', call, { token: TOKENS.agent });
    expect((await runs.get(id))?.owner).toMatchObject({ token_id: 'tok_helper' });
    const { response, json } = await post(url, { messages: [user('The word is 4711')] });
    expect([response.status, json?.error.code]).toEqual([404, 'run_not_found']);
    expect((await runs.get(id))?.messages).toEqual([]);
  });
});

describe('input', () => {
  test('[AG7] tools of the front end are named as refused, and the turn goes on', async () => {
    const { url } = await serve();
    const tools = [{ name: 'change_colour', description: '', parameters: {} }];
    const { events } = await post(url, { tools, messages: [user('Hello')] });
    expect(events[1]).toMatchObject({ type: 'CUSTOM', value: { names: ['change_colour'] } });
    expect(events.at(-1)?.type).toBe('RUN_FINISHED');
  });

  test.each([
    [{}],
    [{ messages: 'Hello' }],
    [{ threadId: '' }],
    [{ threadId: 'x'.repeat(257) }],
    [{ threadId: { toString: 1 } }],
    [{ messages: [{ role: 'user', content: 'Hello' }] }],
    [{ messages: [user('')] }],
    [{ messages: [user('x'.repeat(256 * 1024 + 1))] }],
    [{ messages: [user(null)] }],
    [{ messages: [user([{ type: 'image', source: { type: 'url', value: 'http://x' } }])] }],
    [{ messages: [user('Hello')], tools: 7 }],
    [{ messages: Array(10_001).fill(user('Hello')) }],
  ])('[AG11] what makes no sense is refused, and no run is made', async (body) => {
    const { url, runs } = await serve();
    const { response, json } = await post(url, body);
    expect([response.status, json.error.code]).toEqual([400, 'bad_request']);
    expect((await runs.list({ limit: 10 })).runs).toEqual([]);
  });

  test.each([
    { type: 'binary', mimeType: 'image/png', data: PNG },
    { type: 'image', source: { type: 'data', value: PNG, mimeType: 'image/png' } },
    { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
  ])('[AG13] a picture of a message reaches a model that sees: %j', async (part) => {
    const { url, openai } = await serve({ script: () => ({ text: 'A dot' }), images: true });
    const content = [{ type: 'text', text: 'What is this?' }, part, { type: 'odd' }];
    const { response } = await post(url, { messages: [user(content)] });
    expect(response.status).toBe(200);
    expect(openai.requests.at(-1)?.images).toEqual([`data:image/png;base64,${PNG}`]);
  });

  test('[AG11] an id of a message that holds a token is refused: it would be stored and shown', async () => {
    const { url, runs } = await serve();
    const { events, send } = frontEnd(url);
    await expect(send('hello', `ghp_${'a1B2'.repeat(9)}`)).rejects.toThrow('400');
    expect(events).toEqual([]);
    expect((await runs.list({ limit: 10 })).runs).toEqual([]);
  });
});
