import { expect, test } from 'vitest';
import { createToolChecks } from '../tools/tool-checks.ts';
import { OfferedTools } from './offered-tools.ts';
import type { Pin } from './pins.ts';

const tool = (name: string, more: object = {}) => ({
  ...{ name, description: 'A tool', inputSchema: { type: 'object' } },
  ...more,
});

function setup(
  isReserved: (name: string) => boolean = () => false,
  written: (pins: readonly Pin[]) => Promise<void> = async () => {},
  trust = false,
) {
  const put: Pin[] = [];
  const offered = new OfferedTools({
    id: 'files',
    settings: { tools: {}, trust, timeout_s: 7 },
    pins: {
      put(pins) {
        put.push(...pins);
        return written(pins);
      },
    },
    check: createToolChecks({ alike: () => undefined, hide: (text) => text }),
    isReserved,
  });
  const names = () => offered.list().map((one) => one.name);
  return { offered, put, names };
}

test('[MC11] names that are none here, or of one spelling, have a hash; a name that was given stays', async () => {
  const { offered, names } = setup((name) => name === 'files.read');
  await offered.take(
    ['read', 'a/b', 'é', 'x'.repeat(200), 'a.b', 'a_b'].map((one) => tool(one)),
    0,
  );
  const given = names();
  expect(given).toEqual([
    expect.stringMatching(/^files\.read-[0-9a-f]{8}$/),
    expect.stringMatching(/^files\.a_b-[0-9a-f]{8}$/),
    expect.stringMatching(/^files\._-[0-9a-f]{8}$/),
    expect.stringMatching(/^files\.x+-[0-9a-f]{8}$/),
    'files.a.b',
    expect.stringMatching(/^files\.a_b-[0-9a-f]{8}$/),
  ]);
  expect(new Set(given).size).toBe(6);
  expect(Math.max(...given.map((name) => name.length))).toBe(64);
  await offered.take([tool('a_b')], 0);
  expect(names()).toEqual([given[5]]);
  expect(offered.find(given[5] ?? '')?.foreign).toBe('a_b');
});

test('[MC12] a change is withheld, one that is taken back is none, and what was accepted meanwhile is not what came after', async () => {
  const { offered, put } = setup();
  await offered.take([tool('read')], 0);
  const before = offered.list();
  await offered.take([tool('read')], 0);
  expect(offered.list()).toBe(before);
  await offered.take([tool('read', { title: 'Reads all' })], 0);
  expect(offered.list()[0]?.unavailable).toMatch(/has to accept/);
  const [changed] = offered.all;
  await offered.take([tool('read', { inputSchema: { type: 'object', required: ['x'] } })], 0);
  expect(await offered.accept([changed?.changed?.toolHash ?? ''])).toBeUndefined();
  await offered.take([tool('read')], 0);
  expect(offered.list()[0]).toMatchObject({ unavailable: undefined, timeoutMs: 7_000 });
  expect(put).toHaveLength(1);
});

test('[MC58] hints of a server that is trusted are pinned, those of another one are not read', async () => {
  const before = tool('read', { annotations: { readOnlyHint: true } });
  const now = tool('read', { annotations: { readOnlyHint: false, destructiveHint: true } });
  const trusted = setup(undefined, undefined, true);
  await trusted.offered.take([now], 0);
  expect(trusted.offered.list()[0]?.annotations).toMatchObject({ readOnlyHint: false });
  await trusted.offered.take([before], 0);
  expect(trusted.offered.list()[0]).toMatchObject({
    ...{ annotations: { readOnlyHint: false }, unavailable: expect.stringMatching(/accept/) },
  });
  const other = setup();
  await other.offered.take([before], 0);
  await other.offered.take([now], 0);
  expect(other.offered.list()[0]).toMatchObject({ annotations: {}, unavailable: undefined });
});

test('[MC50] what could not be written is not known: it is seen first once more', async () => {
  let isBroken = true;
  const { offered, names } = setup(undefined, async () => {
    if (isBroken) throw new Error('disk full');
  });
  await expect(offered.take([tool('read')], 0)).rejects.toThrow('disk full');
  expect(names()).toEqual([]);
  isBroken = false;
  await offered.take([tool('read', { description: 'Another' })], 0);
  expect(offered.list()).toMatchObject([{ unavailable: undefined, description: 'Another' }]);
});

test('[MC13] at most 1,000 forms are remembered, and no new one is offered above that', async () => {
  const { offered, put } = setup();
  for (const round of [0, 1, 2]) {
    await offered.take(
      Array.from({ length: 500 }, (_, at) => tool(`t${round}_${at}`)),
      0,
    );
  }
  expect(put).toHaveLength(1_000);
  expect(offered.list()).toEqual([]);
  expect(offered.refusals.count).toBe(500);
});

test('[MC12] a tool that means the same is the same, and one that grants less needs no yes', async () => {
  const { offered } = setup(undefined, undefined, true);
  const schema = {
    type: 'object',
    properties: { a: { type: ['string', 'null'] }, required: { enum: ['x', 'y'] } },
    required: ['a', 'required'],
  };
  const take = (inputSchema: object, annotations: object = { readOnlyHint: true }) =>
    offered.take([tool('read', { inputSchema, annotations })], 0);
  await take(schema);
  const isChanged = () => offered.all.some(({ changed }) => changed !== undefined);
  const same = { $schema: 'http://json-schema.org/draft-07/schema#', ...schema };
  await take({ ...same, required: ['required', 'a'], examples: [], $defs: {} });
  expect(isChanged()).toBe(false);
  await take(schema, { readOnlyHint: false, destructiveHint: true });
  expect(isChanged()).toBe(false);
  expect(offered.find('files.read')?.tool.annotations).toMatchObject({ readOnlyHint: false });
  for (const [other, hints] of [
    [{ ...schema, required: ['a'] }, undefined],
    [{ ...schema, properties: { ...schema.properties, $schema: { type: 'string' } } }, undefined],
    [schema, { readOnlyHint: true, openWorldHint: false }],
  ] as const) {
    await take(other, hints);
    expect(isChanged()).toBe(true);
  }
});
