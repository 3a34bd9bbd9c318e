import { expect, test, vi } from 'vitest';
import { createManualClock } from '../testing/manual-clock.ts';
import { type ImportedTool, importedName, importTools } from './import-tools.ts';
import type { ModelContext, PublishedTool, WebTool } from './model-context.ts';
import { createPublisher, type OwnTool } from './publish-tools.ts';

const webTool = (name: string, more: Partial<WebTool> = {}): WebTool => ({
  ...{ name, title: undefined, description: `Does ${name}`, origin: 'https://shop.example' },
  ...{ inputSchema: { type: 'object' }, isDebugging: false, isConsequential: false, handle: {} },
  ...more,
});

/** What a browser keeps of one document; `answer` is that of every tool. */
function fakeContext(tools: WebTool[] = []) {
  const listeners = new Set<() => void>();
  const registered = new Map<string, PublishedTool>();
  const state = { tools, answer: async (): Promise<string> => 'done', listeners, registered };
  const context: ModelContext = {
    list: async () => state.tools,
    execute: () => state.answer(),
    async register(tool, signal) {
      if (registered.has(tool.name)) throw new Error('InvalidStateError');
      registered.set(tool.name, tool);
      signal.addEventListener('abort', () => registered.delete(tool.name));
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  return { ...state, state, context };
}

function setupImport(tools: WebTool[]) {
  const { state, context, listeners } = fakeContext(tools);
  const clock = createManualClock();
  const offered = new Map<string, ImportedTool>();
  const log: string[] = [];
  const warnings: string[] = [];
  const stop = importTools({
    context,
    host: 'shop.example',
    schedule: clock.schedule,
    warn: (problem) => warnings.push(problem),
    offer(tool) {
      offered.set(tool.name, tool);
      log.push(`+${tool.name}`);
      return () => {
        offered.delete(tool.name);
        log.push(`-${tool.name}`);
      };
    },
  });
  const settle = async () => {
    clock.advance(50);
    await vi.waitFor(() => Promise.resolve());
  };
  const change = async (next: WebTool[]) => {
    state.tools = next;
    for (const listener of listeners) listener();
    await settle();
  };
  return { state, offered, log, warnings, stop, settle, change, listeners };
}

const SIGNAL = { signal: new AbortController().signal };

test('[WM1] tools of the page are offered under its host, with where they come from, and without the word of the page that they only read', async () => {
  const { offered, settle } = setupImport([
    webTool('add', { title: 'Add', isConsequential: true }),
  ]);
  await settle();
  expect(offered.get('shop.example.add')).toMatchObject({
    displayName: 'Add',
    description: '[WebMCP tool of https://shop.example] Does add',
    parameters: { type: 'object' },
    annotations: { openWorldHint: true, destructiveHint: true },
  });
});

test('[WM2] what does not change is not offered anew, what does is, and what left is taken back', async () => {
  const { log, settle, change } = setupImport([webTool('a'), webTool('b')]);
  await settle();
  await change([webTool('a'), webTool('b', { description: 'Other' }), webTool('c')]);
  const beginning = ['+shop.example.a', '+shop.example.b'];
  expect(log).toEqual([...beginning, '-shop.example.b', '+shop.example.b', '+shop.example.c']);
});

test('[WM3] tools for developers, and those that came from the server, are not offered', async () => {
  const publisher = createPublisher({
    context: fakeContext().context,
    call: async () => '',
    warn: () => {},
  });
  publisher.publish([own('camera.photo')]);
  const { offered, settle } = setupImport([
    webTool('inspect', { isDebugging: true }),
    webTool('camera.photo'),
    webTool('buy'),
  ]);
  await settle();
  expect([...offered.keys()]).toEqual(['shop.example.buy']);
  publisher.stop();
});

test('[WM4] more than 64 tools of a page are left out, with a warning', async () => {
  const many = Array.from({ length: 70 }, (_, at) => webTool(`tool${at}`));
  const { offered, warnings, settle } = setupImport(many);
  await settle();
  expect(offered.size).toBe(64);
  expect(warnings).toEqual(['this page has 70 tools; 64 are offered.']);
});

test('[WM5] an answer that is JSON is given as such, other text as it is', async () => {
  const { state, offered, settle } = setupImport([webTool('add')]);
  await settle();
  const run = () => offered.get('shop.example.add')?.execute({}, SIGNAL);
  state.answer = async () => '{"sum":3}';
  expect(await run()).toEqual({ sum: 3 });
  state.answer = async () => '{not json';
  expect(await run()).toBe('{not json');
});

test('[WM5] a failure says that browsers do not pass on its reason; a cancel is one', async () => {
  const { state, offered, settle } = setupImport([webTool('add')]);
  await settle();
  const tool = offered.get('shop.example.add');
  state.answer = () => Promise.reject(new DOMException('UnknownError'));
  await expect(tool?.execute({}, SIGNAL)).rejects.toThrow('Browsers do not pass on why');
  const stopped = AbortSignal.abort('stopped');
  state.answer = () => Promise.reject(new Error('aborted'));
  await expect(tool?.execute({}, { signal: stopped })).rejects.toThrow('aborted');
});

test('[WM6] once it is stopped nothing is offered any more', async () => {
  const { offered, stop, settle, listeners } = setupImport([webTool('add')]);
  await settle();
  stop();
  expect([offered.size, listeners.size]).toEqual([0, 0]);
});

test.each([
  ['shop.example', 'add to cart!', 'shop.example.add-to-cart-'],
  ['127.0.0.1:8080', 'add', 'page.add'],
  ['a-very-long-host-name.of-a-shop.example', 'x'.repeat(128), undefined],
])('[WM1] the name of %s and %j is one that the server takes', (host, name, expected) => {
  const made = importedName(host, name);
  expect(made).toMatch(/^[A-Za-z][A-Za-z0-9_.-]{0,63}$/);
  if (expected) expect(made).toBe(expected);
});

const own = (name: string, more: Partial<OwnTool> = {}): OwnTool => ({
  ...{ name, description: `Does ${name}`, schema: { type: 'object' }, isReadOnly: true },
  ...more,
});

test('[WM7] tools of the tab are registered with the browser, and a call of them goes to the server', async () => {
  const { context, registered } = fakeContext();
  const call = vi.fn(async () => 'a picture');
  const publisher = createPublisher({ context, call, warn: () => {} });
  publisher.publish([own('page.text', { title: 'Text' }), own('camera.photo')]);
  expect(registered.get('page.text')).toMatchObject({
    title: 'Text',
    annotations: { readOnlyHint: true },
  });
  expect(registered.get('camera.photo')?.annotations).toEqual({
    ...{ readOnlyHint: true, consequentialHint: true },
  });
  const { signal } = new AbortController();
  expect(await registered.get('camera.photo')?.execute({ facing: 'user' }, { signal })).toBe(
    'a picture',
  );
  expect(call).toHaveBeenCalledWith('camera.photo', { facing: 'user' }, signal);
});

test('[WM7] a tool that the tab no longer offers is withdrawn, one that stays is not touched', async () => {
  const { context, registered } = fakeContext();
  const publisher = createPublisher({ context, call: async () => '', warn: () => {} });
  publisher.publish([own('a'), own('b')]);
  const kept = registered.get('a');
  publisher.publish([own('a')]);
  expect([...registered.keys()]).toEqual(['a']);
  expect(registered.get('a')).toBe(kept);
  publisher.stop();
  expect(registered.size).toBe(0);
});

test('[WM7] a tool that is withdrawn before the browser has it, and registered anew, can be withdrawn again', async () => {
  const { context, registered } = fakeContext();
  const slow: ModelContext = {
    ...context,
    async register(tool, signal) {
      await Promise.resolve();
      signal.throwIfAborted();
      await context.register(tool, signal);
    },
  };
  const warnings: string[] = [];
  const warn = (problem: string) => void warnings.push(problem);
  const { publish } = createPublisher({ context: slow, call: async () => '', warn });
  publish([own('a')]);
  publish([]);
  publish([own('a')]);
  await vi.waitFor(() => expect(registered.has('a')).toBe(true));
  publish([]);
  expect([registered.size, warnings]).toEqual([0, []]);
});

test('[WM7] a name that the browser does not take is a warning', async () => {
  const { context, registered } = fakeContext();
  registered.set('a', { name: 'a' } as PublishedTool);
  const warnings: string[] = [];
  const warn = (problem: string) => warnings.push(problem);
  createPublisher({ context, call: async () => '', warn }).publish([own('a')]);
  await vi.waitFor(() => expect(warnings).toEqual([expect.stringContaining('does not take')]));
});
