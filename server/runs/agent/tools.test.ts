import { describe, expect, test } from 'vitest';
import type { ToolListing } from '#lib/protocol/tool-spec';
import { type FakeTool, toListing } from './testing/fakes.ts';
import { inOrder, notices, partsOf, setupTurns, texts } from './testing/setup-turns.ts';
import { chooseTools, createModelTools, MOST_TOOLS } from './tools.ts';

const numbered = (prefix: string, count: number): FakeTool[] =>
  Array.from({ length: count }, (_, n) => ({
    name: `${prefix}.t${String(n).padStart(3, '0')}`,
    run: () => ({ output: n }),
  }));

type Client = ToolListing['clients'][number];

const of = (client: Partial<Client> & { client_id: string }, tools: FakeTool[]): ToolListing[] =>
  tools.map((tool) => ({
    ...toListing(tool),
    source: 'client' as const,
    clients: [{ name: client.client_id, visible: true, ...client }],
  }));

const choose = (listings: ToolListing[], more: Partial<Parameters<typeof chooseTools>[1]> = {}) =>
  chooseTools(listings, {
    most: 10,
    text: '',
    recent: [],
    clientId: null,
    isPinned: () => false,
    ...more,
  });

const names = (offered: ReturnType<typeof chooseTools>) => offered.map(({ name }) => name);

describe('[AL103] of more tools than a model takes', () => {
  const many = of({ client_id: 'far', visible: false }, numbered('a', 30));

  test('[AL103] as many are offered as it takes, the same each time', () => {
    const chosen = choose(many);
    expect(chosen).toHaveLength(10);
    expect(names(choose(many.toReversed()))).toEqual(names(chosen));
    expect(choose(many, { most: null })).toHaveLength(30);
  });

  test.each(['please use a.t029 now', 'A_T029!', '请用a.t029'])(
    '[AL103] %j names one that is offered then',
    (text) => {
      expect(names(choose(many, { text }))).toContain('a.t029');
    },
  );

  test('[AL103] a name within a longer word names nothing', () => {
    expect(names(choose(many, { text: 'data.t0299' }))).not.toContain('a.t029');
  });

  test('[AL103] first named ones, then the server’s, the writer’s, used ones, visible ones', () => {
    const server = numbered('zz', 1).map((tool) => ({
      ...toListing(tool),
      source: 'server' as const,
    }));
    const listings = [
      ...many,
      ...of({ client_id: 'mute', responsive: false }, numbered('m', 1)),
      ...of({ client_id: 'seen' }, numbered('y', 1)),
      ...of({ client_id: 'writer', visible: false }, numbered('x', 1)),
      ...server,
    ];
    const more = { text: 'a.t012', recent: ['a.t020', 'a.t021'], clientId: 'writer' };
    expect(names(choose(listings, { ...more, most: 6 })).toSorted()).toEqual(
      ['a.t012', 'zz.t000', 'x.t000', 'a.t020', 'a.t021', 'y.t000'].toSorted(),
    );
    expect(names(choose(listings, { ...more, most: 33 }))).not.toContain('m.t000');
  });

  test('[AL103] a client with many tools leaves room for one with few', () => {
    const listings = [
      ...of({ client_id: 'big' }, numbered('a', 30)),
      ...of({ client_id: 'small' }, numbered('z', 3)),
    ];
    expect(names(choose(listings)).filter((name) => name.startsWith('z.'))).toHaveLength(3);
  });
});

describe.each(['openai-chat:gpt-4o', 'openai:gpt-4o', 'compatible:qwen3:8b'])(
  'over %s',
  (model) => {
    test('[AL103] 200 tools: 128 are sent, the named one among them, and the run and the model can read it', async () => {
      const tools = numbered('many', 200);
      const script = inOrder(
        { calls: [{ name: 'many_t199', args: { a: 1 } }] },
        { calls: [{ name: 'many_t150', args: { a: 1 } }] },
        { text: 'done' },
      );
      const { turn, openai, calls } = await setupTurns({ model, script, tools });
      const run = await turn('Use many.t199 please');
      expect(MOST_TOOLS).toBe(128);
      for (const { toolNames, body } of openai.requests) {
        expect(toolNames).toHaveLength(128);
        expect(toolNames).toContain('many_t199');
        expect(JSON.stringify(body)).toContain('128 of 200 tools');
      }
      expect(
        [...calls.records.values()].map(({ status, error }) => [status, error?.reason]),
      ).toEqual([
        ['SUCCEEDED', undefined],
        // It is there, and a name is enough.
        ['SUCCEEDED', undefined],
      ]);
      expect(notices(partsOf(run))).toEqual(['tools_left_out']);
      expect(partsOf(run).find(({ type }) => type === 'notice')).toMatchObject({
        params: { offered: 128, available: 200 },
      });
      expect(texts(partsOf(run)).at(-1)).toBe('done');
    });
  },
);

test('[AL103] the rehearsal model takes any number of tools', async () => {
  const { turn, calls } = await setupTurns({
    model: 'rehearsal',
    script: () => ({}),
    tools: numbered('many', 200),
  });
  const run = await turn('many_t177');
  expect([...calls.records.values()].map(({ toolName }) => toolName)).toContain('many.t177');
  expect(notices(partsOf(run))).toEqual([]);
});

const listed = (...names: string[]) =>
  names.map((name) => toListing({ name, run: () => ({ output: 1 }) }));

test('[AL11] a name with dots is offered with underscores and found again', () => {
  const { tools, find, toModelName } = createModelTools(listed('browser.screenshot'), 'openai');
  expect(Object.keys(tools)).toEqual(['browser_screenshot']);
  expect(find('browser_screenshot').toolName).toBe('browser.screenshot');
  expect(toModelName('browser.screenshot')).toBe('browser_screenshot');
});

test('[AL11] two tools of one spelling are both offered and both found, in any order', () => {
  for (const names of [
    ['a.b', 'a_b'],
    ['a_b', 'a.b'],
  ]) {
    const { tools, find, toModelName } = createModelTools(listed(...names), 'openai');
    expect(Object.keys(tools)).toEqual(['a_b', 'a_b_2']);
    for (const name of names) expect(find(toModelName(name)).toolName).toBe(name);
  }
});

test('[AL11] names of 64 characters that collide stay within 64', () => {
  const long = 'x'.repeat(62);
  const { tools } = createModelTools(listed(`${long}.y`, `${long}_y`), 'openai');
  expect(Object.keys(tools).every((name) => name.length <= 64)).toBe(true);
  expect(Object.keys(tools)).toHaveLength(2);
});

test('[AL44] a tool that is gone, or was made up, still has a name an API accepts', () => {
  const { find, toModelName } = createModelTools([], 'openai');
  expect(toModelName('phone.vibrate')).toBe('phone_vibrate');
  expect(toModelName('rm -rf /; 删除')).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  expect(toModelName('')).toBe('_');
  expect(find('made_up').toolName).toBe('made_up');
});

test('[AL11] names of object members are names like others', () => {
  const { find } = createModelTools(listed('toString', 'a.__proto__'), 'openai');
  expect(find('toString').toolName).toBe('toString');
  expect(find('a___proto__').toolName).toBe('a.__proto__');
  expect(find('constructor').toolName).toBe('constructor');
});

test('[AL101] a spelling that fits two offered tools means neither', () => {
  const { find } = createModelTools(listed('demo.echo', 'demoecho', 'other'), 'openai');
  expect(find('demoecho').toolName).toBe('demoecho');
  expect(find('Demo-Echo')).toMatchObject({
    toolName: 'Demo-Echo',
    refusal: { reason: 'not_offered' },
  });
  expect(find('OTHER')).toEqual({ toolName: 'other' });
});

test('[AL105] a name that is cut is cut between characters', () => {
  const { find } = createModelTools([], 'openai');
  expect(find(`${'x'.repeat(127)}🙂y`).toolName.isWellFormed()).toBe(true);
});
