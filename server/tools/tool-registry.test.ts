import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { FIRST_OPERATOR, type Principal } from '../auth/principal.ts';
import { defineTool } from './define-tool.ts';
import { OwnTools } from './own-tools.ts';
import { registerTools } from './testing/register-tools.ts';
import type { ClientAvailability, OpenCircuit } from './tool-provider.ts';
import { ToolRegistry } from './tool-registry.ts';

const operator: Principal = FIRST_OPERATOR;
const sum = defineTool({
  name: 'calc.sum',
  displayName: 'Sum',
  description: 'Adds numbers.',
  args: z.object({ numbers: z.array(z.number()), round: z.boolean().default(false) }),
  effect: 'read',
  timeoutMs: 1_000,
  run: async ({ numbers }) => ({ output: numbers.reduce((a, b) => a + b, 0) }),
});
const spec = (name: string, more: object = {}) => ({
  name,
  description: `The tool ${name}`,
  parameters: { type: 'object' },
  ...more,
});
const client = (instanceId: string, clientId = `c_${instanceId}`) => ({ clientId, instanceId });

function setup() {
  const availabilities = new Map<string, Partial<ClientAvailability>>();
  const openCircuits = new Map<string, OpenCircuit>();
  const registry = new ToolRegistry({
    providers: [new OwnTools([sum])],
    availability: (id) => ({
      name: id,
      visible: true,
      responsive: true,
      lastTouchedAt: 0,
      ...availabilities.get(id),
    }),
    openCircuitOf: (id, tool) => openCircuits.get(`${id} ${tool}`),
  });
  const codes = (specs: readonly unknown[], instanceId = 'one') =>
    registerTools(registry, client(instanceId), specs).rejected.map(({ code }) => code);
  const asked = (reference: string) => {
    const target = registry.find(reference);
    return [...(target?.candidates ?? [])].map((tool) => tool.instanceId);
  };
  const setAvailability = (id: string, availability: Partial<ClientAvailability>) => {
    availabilities.set(id, availability);
    registry.availabilityChanged(id);
  };
  return { registry, setAvailability, openCircuits, codes, asked };
}

test('[TR1] T49: bad tools are rejected one by one and the good ones kept', () => {
  const { registry } = setup();
  const { registered, rejected } = registerTools(registry, client('one'), [
    spec('good'),
    spec(''),
    { ...spec('not an object'), parameters: 'string' },
    { ...spec('no_parameters'), parameters: 'string' },
    spec('bad_type', { parameters: { type: 'string' } }),
    'x',
    null,
    { name: 5 },
    spec('bad_hints', { annotations: { readOnlyHint: 'yes' } }),
  ]);
  expect(registered).toBe(1);
  expect(rejected.map(({ name, code }) => [name, code])).toEqual([
    ['', 'bad_name'],
    ['not an object', 'bad_name'],
    ['no_parameters', 'bad_tool'],
    ['bad_type', 'schema_not_object'],
    ['', 'bad_name'],
    ['', 'bad_name'],
    ['5', 'bad_name'],
    ['bad_hints', 'bad_tool'],
  ]);
  for (const { message } of rejected) expect(message.length).toBeGreaterThan(10);
  expect(registry.namesOf('one')).toEqual(['good']);
});

test('[TR22] of a tool whose schema cannot be checked whole the list says what is left out', () => {
  const { registry } = setup();
  const properties = { a: { pattern: '(?<=x)y' }, b: { type: 'number' } };
  registerTools(registry, client('one'), [
    spec('partly', { parameters: { type: 'object', properties } }),
    spec('whole'),
  ]);
  const listed = registry.list(operator).map(({ name, unchecked }) => [name, unchecked]);
  expect(listed).toContainEqual(['partly', ['#/properties/a/pattern']]);
  expect(listed).toContainEqual(['whole', undefined]);
  const check = registry.find('partly')?.best.check;
  expect([check?.({ a: 'z', b: 1 }).ok, check?.({ a: 'z', b: 'x' }).ok]).toEqual([true, false]);
});

test('[TR2] T37 T39: the names of the server are reserved in both spellings, look-alikes are refused', () => {
  const { codes, registry } = setup();
  expect(codes([spec('calc.sum'), spec('calc_sum')])).toEqual(['name_reserved', 'name_reserved']);
  expect(registry.find('calc.sum')).toMatchObject({ best: { clientId: null } });
  expect(registry.list(operator)).toMatchObject([{ name: 'calc.sum', source: 'server' }]);
  const dotted = new ToolRegistry({
    providers: [new OwnTools([{ ...sum, name: 'a.b.c' }])],
    availability: () => ({ name: '', visible: true, responsive: true, lastTouchedAt: 0 }),
  });
  expect(registerTools(dotted, client('one'), [spec('a.b_c')]).rejected[0]?.code).toBe(
    'name_reserved',
  );
  for (const name of [
    '',
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'wеather',
    'a\u202eb',
    'ｆullwidth',
    'a\u200bb',
    'x'.repeat(65),
    'a/b',
    '../x',
    '9a',
  ]) {
    expect(codes([spec(name)]), name).toEqual(['bad_name']);
  }
});

test('[TR3] T38: two names with one model spelling never live side by side', () => {
  const { registry, codes } = setup();
  expect(codes([spec('a.b'), spec('a_b')])).toEqual(['name_collides']);
  expect(codes([spec('a_b')], 'two')).toEqual(['name_collides']);
  expect(codes([spec('a.b')], 'two')).toEqual([]);
  registry.drop('one');
  expect(codes([spec('a_b')], 'one')).toEqual(['name_collides']);
  registry.drop('two');
  expect(codes([spec('a_b')], 'one')).toEqual([]);
});

test('[TR3] names that differ in case alone never live side by side, nor beside the server’s', () => {
  const { registry, codes } = setup();
  expect(codes([spec('pol.t2'), spec('Pol.t2'), spec('POL_T2')])).toEqual([
    'name_collides',
    'name_collides',
  ]);
  expect(codes([spec('Calc.Sum'), spec('CALC_SUM')], 'two')).toEqual([
    'name_reserved',
    'name_reserved',
  ]);
  registry.drop('one');
  expect(codes([spec('Pol_t2')], 'two')).toEqual([]);
});

test('[TR15] a pool has one schema; who offers the name with another is listed beside it', () => {
  const { registry, setAvailability } = setup();
  const n = (type: string) => ({ parameters: { type: 'object', properties: { n: { type } } } });
  registerTools(registry, client('a'), [spec('t', n('number'))]);
  registerTools(registry, client('b'), [
    spec('t', { parameters: { properties: { n: { type: 'number' } }, type: 'object' } }),
  ]);
  registerTools(registry, client('c'), [spec('t', n('string'))]);
  const listed = (from?: string) => {
    const tool = registry.list(operator, from).find(({ name }) => name === 't');
    return [tool?.schema, tool?.clients.map(({ name }) => name), tool?.others];
  };
  const numbers = n('number').parameters;
  expect(listed()).toEqual([numbers, ['a', 'b'], [{ client_id: 'c_c', name: 'c' }]]);
  const others = ['a', 'b'].map((name) => ({ client_id: `c_${name}`, name }));
  expect(listed('c_c')).toEqual([n('string').parameters, ['c'], others]);
  setAvailability('c', { lastTouchedAt: 1 });
  expect(listed()).toEqual([n('string').parameters, ['c'], others]);
  expect(listed('c_a')[1]).toEqual(['a', 'b']);
});

test('[TR4] description and timeout lie within their limits', () => {
  const { registry, codes } = setup();
  for (const timeout_ms of [0, 99, -1, 600_001])
    expect(codes([spec('t', { timeout_ms })])).toEqual(['bad_timeout']);
  expect(codes([spec('t', { timeout_ms: Number.NaN })])).toEqual(['bad_tool']);
  for (const description of ['', '  ', '\u200b', 'x'.repeat(4_097)]) {
    expect(codes([spec('t', { description })])).toEqual(['bad_description']);
  }
  expect(
    codes([spec('a', { timeout_ms: 300 }), spec('b', { timeout_ms: 400 }), spec('c')]),
  ).toEqual([]);
  const timeouts = registry.list(operator).map(({ name, timeout_ms }) => [name, timeout_ms]);
  expect(timeouts.slice(1)).toEqual([
    ['a', 300],
    ['b', 400],
    ['c', 30_000],
  ]);
});

test('[TR5] T47: a client offers at most 256 tools', () => {
  const { registry, codes } = setup();
  const many = Array.from({ length: 257 }, (_, i) => spec(`t${i}`));
  expect(codes(many)).toEqual(['too_many_tools']);
  expect(codes([spec('t0', { description: 'Changed' })])).toEqual([]);
  expect(registry.namesOf('one')).toHaveLength(256);
});

test("[TR6] T40: a client replaces its own tool and no other client's", () => {
  const { registry } = setup();
  registerTools(registry, client('one'), [spec('t', { description: 'First' })]);
  registerTools(registry, client('two'), [spec('t', { description: 'Other' })]);
  registerTools(registry, client('one'), [spec('t', { description: 'Changed' }), spec('u')]);
  const descriptionsOf = (reference: string) => {
    const target = registry.find(reference);
    return [...(target?.candidates ?? [])].map(({ description }) => description);
  };
  expect(descriptionsOf('t@c_one')).toEqual(['Changed']);
  expect(descriptionsOf('t@c_two')).toEqual(['Other']);
});

test('[TR7] one that is passed over comes after those that are hidden, for that tool alone', () => {
  const { registry, setAvailability, openCircuits, asked } = setup();
  for (const id of ['a', 'b']) registerTools(registry, client(id), [spec('t'), spec('u')]);
  setAvailability('b', { visible: false });
  openCircuits.set('a t', { tool: 't', until: 31_000, failures: 3 });
  registry.availabilityChanged('a');
  expect([asked('t'), asked('u')]).toEqual([
    ['b', 'a'],
    ['a', 'b'],
  ]);
  const listed = registry.list(operator).find(({ name }) => name === 't');
  expect(listed?.clients[1]).toMatchObject({
    client_id: 'c_a',
    tripped: { until: 31, failures: 3 },
  });
});

test('[TR8] a reference with a client means that client alone', () => {
  const { registry, asked } = setup();
  registerTools(registry, client('one'), [spec('t')]);
  registerTools(registry, client('two'), [spec('t')]);
  expect(asked('t@c_two')).toEqual(['two']);
  expect(registry.find('t@nobody')).toBeUndefined();
  expect(registry.find('calc.sum')?.best.origin.source).toBe('server');
  expect(registry.find('calc.sum@c_one')).toBeUndefined();
  expect(registry.find('constructor')).toBeUndefined();
});

test('[TR21] a name that differs by case, or by "." and "_", alone means the one tool; stored names do not', () => {
  const { registry } = setup();
  registerTools(registry, client('one'), [spec('Page.Draw')]);
  for (const written of ['calc_sum', 'CALC.Sum', 'calc.sum']) {
    expect(registry.nameOf(written)).toBe('calc.sum');
  }
  expect(registry.nameOf('page_draw')).toBe('Page.Draw');
  expect(registry.nameOf('page.draw@c_one')).toBe('Page.Draw@c_one');
  for (const none of ['calc-sum', 'pagedraw', 'constructor']) {
    expect(registry.nameOf(none)).toBe(none);
  }
  expect(registry.find('page_draw')).toBeUndefined();
  registry.drop('one');
  expect(registry.nameOf('page_draw')).toBe('page_draw');
});

test("[TR10] lists begin with the server's tools and are sorted, with the schema that was given", () => {
  const { registry } = setup();
  const parameters = { type: 'object', properties: { a: { type: 'string', 'x-hint': 1 } } };
  registerTools(registry, client('one'), [
    spec('b.x', { parameters, display_name: 'B' }),
    spec('a'),
  ]);
  const tools = registry.list(operator);
  expect(tools.map(({ name, model_name }) => [name, model_name])).toEqual([
    ['calc.sum', 'calc_sum'],
    ['a', 'a'],
    ['b.x', 'b_x'],
  ]);
  expect(tools[2]).toMatchObject({
    schema: parameters,
    display_name: 'B',
    source: 'client',
    callable: true,
  });
  expect(tools[0]).toMatchObject({
    source: 'server',
    schema: { type: 'object', required: ['numbers'] },
  });
});

test('[TR11] who may call what follows from the principal alone', () => {
  const { registry } = setup();
  registerTools(
    registry,
    client('one'),
    ['calc2', 'file.read', 'files.read'].map((name) => spec(name)),
  );
  const agent: Principal = {
    kind: 'agent',
    name: 'reader',
    tokenId: 'tok_1',
    tools: ['calc.*', 'file.read'],
  };
  const callable = registry.list(agent).filter((tool) => tool.callable);
  expect(callable.map(({ name }) => name)).toEqual(['calc.sum', 'file.read']);
  for (const tool of registry.list(agent)) {
    expect(registry.mayCall(agent, tool.name)).toBe(tool.callable);
    expect(tool.callable || (tool.reason?.length ?? 0) > 10).toBe(true);
  }
  expect(registry.mayCall(agent, 'file.read@c_one')).toBe(true);
  expect(
    registry
      .list({ kind: 'device', clientId: 'c_one', tokenId: null })
      .some((tool) => tool.callable),
  ).toBe(false);
  expect(registry.list(operator).every((tool) => tool.callable)).toBe(true);
});

test('[TR12] hidden characters are taken out of what models read', () => {
  const { registry } = setup();
  const hidden = '\u{E0041}\u200b\u202e\u2066\ufeff\u2028';
  registerTools(registry, client('one'), [
    spec('t', {
      description: `Reads${hidden} text`,
      display_name: `Re${hidden}ad`,
      annotations: { title: `T${hidden}` },
      parameters: {
        type: 'object',
        properties: { a: { description: `x${hidden}y`, enum: [`v${hidden}`] } },
      },
    }),
  ]);
  expect(registry.list(operator)[1]).toMatchObject({
    description: 'Reads text',
    display_name: 'Read',
    annotations: { title: 'T' },
    schema: { type: 'object', properties: { a: { description: 'xy', enum: ['v'] } } },
  });
});

test('a listing has the first of its clients and the number of the others', () => {
  const { registry } = setup();
  for (const id of ['one', 'two', 'three']) registerTools(registry, client(id), [spec('t')]);
  const [whole] = registry.list(operator).filter(({ name }) => name === 't');
  expect(whole?.clients_left_out).toBe(undefined);
  expect(registry.listing('t', 2)).toEqual({
    ...whole,
    clients: whole?.clients.slice(0, 2),
    clients_left_out: 1,
  });
  expect(registry.listing('none', 2)).toBe(undefined);
});

test('[TR13] listeners are called for changes and for nothing else', () => {
  const { registry } = setup();
  let changes = 0;
  const unsubscribe = registry.onChange(() => {
    changes += 1;
  });
  registerTools(registry, client('one'), [spec('t'), spec('u')]);
  registerTools(registry, client('one'), [spec('')]);
  registry.unregister('one', ['none']);
  registry.drop('two');
  expect(changes).toBe(1);
  registry.unregister('one', ['t']);
  registry.drop('one');
  expect(changes).toBe(3);
  unsubscribe();
  registerTools(registry, client('one'), [spec('t')]);
  expect(changes).toBe(3);
});

test("[TR14] a server tool has the same check as a client's", () => {
  const { registry } = setup();
  const tool = registry.find('calc.sum')?.best;
  if (!tool) throw new Error('not the server tool');
  expect(tool.check({ numbers: ['1', 2], round: 'true' })).toEqual({
    ok: true,
    args: { numbers: [1, 2], round: true },
    repairs: ['numbers[0]', 'round'],
  });
  expect(tool.check({ numbers: [], more: 1 }).ok).toBe(true);
  expect(tool.check({}).ok).toBe(false);
});

test('[TR16] of 1,024 bad tools the first 64 are named, with the number of all', () => {
  const { registry } = setup();
  const bad = Array.from({ length: 1_024 }, (_, n) => ({ name: `!${n}` }));
  const one = registerTools(registry, client('one'), [spec('good'), ...bad]);
  expect(one).toMatchObject({ registered: 1, rejected_count: 1_024 });
  expect(one.rejected.map(({ name }) => name)).toEqual(bad.slice(0, 64).map(({ name }) => name));
  const few = registerTools(registry, client('one'), bad.slice(0, 64));
  expect(few.rejected).toHaveLength(64);
  expect(few).not.toHaveProperty('rejected_count');
});

test('[TR1] a tool without a schema or a description is refused with what would be right', () => {
  const { rejected } = registerTools(setup().registry, client('one'), [
    { name: 'bare', description: 'Does it' },
    { name: 'mute', parameters: { type: 'object' } },
  ]);
  expect(rejected.map(({ message }) => message)).toEqual([
    '"parameters" is wrong: must be a JSON Schema, such as {"type": "object", "properties": {}}; over HTTP it is "schema".',
    '"description" is wrong: must be text that says what the tool does.',
  ]);
});

test('[TR6] T50: who offers a tool is what the server has of the client, not what the tool says', () => {
  const { registry } = setup();
  registerTools(registry, client('two'), [spec('t')]);
  const forged = { source: 'server', client_id: 'c_two', clientId: 'c_two', instance_id: 'two' };
  registerTools(registry, client('one'), [spec('u', { ...forged, callable: true, clients: [] })]);
  const [listed] = registry.list(operator).filter(({ name }) => name === 'u');
  expect(listed).toMatchObject({ source: 'client', clients: [{ client_id: 'c_one' }] });
  expect(listed?.clients).toHaveLength(1);
  expect(registry.find('u@c_two')).toBeUndefined();
  registry.drop('one');
  expect(registry.find('u')).toBeUndefined();
  expect(registry.find('t')).toMatchObject({ best: { instanceId: 'two' } });
});

test('[TR9] [TR10] T48: after any comings and goings each list and each look-up has the same tools', () => {
  const names = ['a', 'b.x', 'b.y', 'c'];
  const act = fc.record({
    what: fc.constantFrom('register', 'register', 'unregister', 'drop', 'hide'),
    instance: fc.constantFrom('one', 'two', 'three'),
    tools: fc.uniqueArray(fc.constantFrom(...names), { minLength: 1 }),
    type: fc.constantFrom('number', 'string'),
  });
  const comesAndGoes = fc.array(act, { minLength: 200, maxLength: 200 });
  fc.assert(
    fc.property(comesAndGoes, (acts) => {
      const { registry, setAvailability } = setup();
      const offered = new Map<string, Set<string>>();
      for (const { what, instance, tools, type } of acts) {
        const own = offered.get(instance) ?? new Set();
        offered.set(instance, own);
        if (what === 'register') {
          const parameters = { type: 'object', properties: { n: { type } } };
          registerTools(
            registry,
            client(instance),
            tools.map((name) => spec(name, { parameters })),
          );
          for (const name of tools) own.add(name);
        } else if (what === 'unregister') {
          registry.unregister(instance, tools);
          for (const name of tools) own.delete(name);
        } else if (what === 'drop') {
          registry.drop(instance);
          own.clear();
        } else setAvailability(instance, { visible: type === 'number' });
        const there = new Set([...offered.values()].flatMap((one) => [...one]));
        const listed = registry.list(operator);
        expect(listed.map(({ name }) => name)).toEqual(['calc.sum', ...[...there].sort()]);
        for (const name of names) {
          const clients = [...offered].filter(([, one]) => one.has(name)).map(([id]) => `c_${id}`);
          const one = listed.find((tool) => tool.name === name);
          const all = [...(one?.clients ?? []), ...(one?.others ?? [])];
          expect(all.map(({ client_id }) => client_id).sort()).toEqual(clients.sort());
          expect(registry.find(name) === undefined).toBe(clients.length === 0);
          expect(registry.listing(name, 9)).toEqual(one);
          for (const id of offered.keys()) {
            const found = registry.find(`${name}@c_${id}`) !== undefined;
            expect(found).toBe(clients.includes(`c_${id}`));
          }
        }
      }
    }),
    { numRuns: 20 },
  );
});
