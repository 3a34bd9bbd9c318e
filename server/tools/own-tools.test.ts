import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { FIRST_OPERATOR } from '../auth/principal.ts';
import { type AnyServerTool, defineTool } from './define-tool.ts';
import { OwnTools } from './own-tools.ts';
import { runBuiltin } from './testing/run-builtin.ts';
import { ToolRegistry } from './tool-registry.ts';

const registryOf = (tool: AnyServerTool) =>
  new ToolRegistry({
    providers: [new OwnTools([tool])],
    availability: () => ({ name: '', visible: false, responsive: false, lastTouchedAt: 0 }),
  });

/** A registry with one tool whose rooms are what `rooms` gives. */
function createLights(rooms: () => string[]) {
  const registry = registryOf(
    defineTool({
      ...{ name: 'lights', displayName: 'Lights', effect: 'write', timeoutMs: 1_000 },
      description: () => `Lights of ${rooms().join(', ')}`,
      args: () => z.object({ room: z.enum(rooms()) }),
      run: async ({ room }) => ({ output: room }),
    }),
  );
  const check = (room: string) => registry.find('lights')?.best.check({ room }).ok;
  return { check, listed: () => registry.list(FIRST_OPERATOR).at(0) };
}

test('[TD5] each list has the description and the arguments of that moment, and checks are by them', () => {
  let rooms = ['kitchen'];
  const { check, listed } = createLights(() => rooms);
  expect(listed()).toMatchObject({ description: 'Lights of kitchen' });
  rooms = ['hall', 'attic'];
  expect(check('hall')).toBe(false);
  expect(listed()).toMatchObject({
    description: 'Lights of hall, attic',
    schema: { properties: { room: { enum: ['hall', 'attic'] } } },
  });
  expect([check('hall'), check('kitchen')]).toEqual([true, false]);
});

test('[TD5] a tool that cannot be described now is listed with the reason, and is back when it can', () => {
  let isBroken = false;
  const { listed } = createLights(() => {
    if (isBroken) throw new Error('no bridge');
    return ['kitchen'];
  });
  isBroken = true;
  expect(listed()).toMatchObject({
    ...{ callable: false, reason: 'It cannot be described now: Error: no bridge' },
    description: 'Lights of kitchen',
  });
  isBroken = false;
  expect(listed()).toMatchObject({ callable: true });
});

test('[TD5] a description and arguments that are promises are read again when the tool says that it changed', async () => {
  let rooms = ['kitchen'];
  let changed = () => {};
  const tool = defineTool({
    ...{ name: 'lights', displayName: 'Lights', effect: 'write', timeoutMs: 1_000 },
    description: async () => `Lights of ${rooms.join(', ')}`,
    args: async () => z.object({ room: z.enum(rooms) }),
    onChange: (listener) => {
      changed = listener;
    },
    run: async ({ room }) => ({ output: room }),
  });
  await tool.ready();
  const registry = registryOf(tool);
  const listed = () => registry.list(FIRST_OPERATOR).at(0);
  expect(listed()).toMatchObject({ description: 'Lights of kitchen' });
  rooms = ['hall'];
  changed();
  await vi.waitFor(() => expect(listed()).toMatchObject({ description: 'Lights of hall' }));
  expect(registry.find('lights')?.best.check({ room: 'hall' }).ok).toBe(true);
  expect(await runBuiltin(tool, { room: 'hall' })).toBe('hall');
});
