import { RE2JS } from 're2js';
import { expect, test, vi } from 'vitest';
import { ToolRegistry } from './tool-registry.ts';

const setup = () =>
  new ToolRegistry({
    providers: [],
    availability: (name) => ({ name, visible: true, responsive: true, lastTouchedAt: 0 }),
  });
const spec = (name: string, more: object) => ({ name, description: `The tool ${name}`, ...more });
/** Tools of some 68 kB each, of which 246 have 16 MiB. */
const large = (from: number, count: number) =>
  Array.from({ length: count }, (_, i) =>
    spec(`large_${from + i}`, {
      description: 'x'.repeat(4_000),
      parameters: { type: 'object', description: 'x'.repeat(64_000) },
    }),
  );
const registrationOf = async (
  registry: ToolRegistry,
  instanceId: string,
  specs: readonly unknown[],
) => {
  const { registered, rejected } = registry.register(
    { clientId: `c_${instanceId}`, instanceId },
    await registry.check(specs),
  );
  return [registered, new Set(rejected.map(({ code }) => code))];
};
const REFUSED = new Set(['too_many_tools']);

test('[TR19] the tools of a client have at most 16 MiB, in one registration or in several', async () => {
  const registry = setup();
  expect(await registrationOf(registry, 'one', large(0, 250))).toEqual([246, REFUSED]);
  expect(await registrationOf(registry, 'one', large(300, 2))).toEqual([0, REFUSED]);
  // Replacing takes only what it is larger by.
  expect(await registrationOf(registry, 'one', large(0, 246))).toEqual([246, new Set()]);
  expect(await registrationOf(registry, 'two', large(300, 2))).toEqual([2, new Set()]);
  registry.unregister('one', ['large_7']);
  expect(await registrationOf(registry, 'one', large(400, 2))).toEqual([1, REFUSED]);
});

test('[TR19] the tools of all clients have at most 64 MiB, those that are alike as one', async () => {
  const registry = setup();
  const fill = (n: number) => registrationOf(registry, `i${n}`, large(n * 240, 240));
  for (let n = 0; n < 4; n += 1) expect(await fill(n)).toEqual([240, new Set()]);
  const more = large(5_000, 30);
  expect(await registrationOf(registry, 'last', more)).toEqual([25, REFUSED]);
  // Alike ones are there already, however many clients offer them.
  for (const id of ['a', 'b', 'c']) {
    expect(await registrationOf(registry, id, large(0, 240))).toEqual([240, new Set()]);
  }
  for (const id of ['i0', 'a', 'b']) registry.drop(id);
  expect(await registrationOf(registry, 'last', more)).toEqual([25, REFUSED]);
  registry.drop('c');
  expect(await registrationOf(registry, 'last', more)).toEqual([30, new Set()]);
});

test('[TR19] what is refused as too large is not compiled, nor is what is offered already', async () => {
  const registry = setup();
  const compiled = vi.spyOn(RE2JS, 'compile');
  const withPatterns = (count: number, more: object = {}) =>
    Array.from({ length: count }, (_, i) => {
      const parameters = { type: 'object', properties: { a: { pattern: `^a${i}$` } } };
      return spec(`t_${i}`, { parameters: { ...parameters, ...more } });
    });
  expect(await registrationOf(registry, 'one', withPatterns(20))).toEqual([20, new Set()]);
  expect(compiled.mock.calls.length).toBe(20);
  for (const id of ['one', 'two', 'three']) {
    expect(await registrationOf(registry, id, withPatterns(20))).toEqual([20, new Set()]);
  }
  expect(compiled.mock.calls.length).toBe(20);
  for (const id of ['two', 'three']) {
    const target = registry.find(`t_3@c_${id}`);
    const check = target?.best.check;
    expect([check?.({ a: 'a3' }).ok, check?.({ a: 'a4' }).ok]).toEqual([true, false]);
  }
  compiled.mockClear();
  const tooLarge = withPatterns(300, { description: 'x'.repeat(65_000) });
  await registry.check(tooLarge);
  expect(compiled.mock.calls.length).toBe(257);
  compiled.mockRestore();
});
