import { expect, test } from 'vitest';
import { z } from 'zod';
import { FIRST_OPERATOR } from '../auth/principal.ts';
import { defineTool } from './define-tool.ts';
import { createToolRegistry } from './memory-tool-registry.ts';
import { OwnTools } from './own-tools.ts';

/** A registry with one tool whose rooms are what `rooms` gives. */
function createLights(rooms: () => string[]) {
  const registry = createToolRegistry({
    providers: [
      new OwnTools([
        defineTool({
          ...{ name: 'lights', displayName: 'Lights', effect: 'write', timeoutMs: 1_000 },
          description: () => `Lights of ${rooms().join(', ')}`,
          args: () => z.object({ room: z.enum(rooms()) }),
          run: async ({ room }) => ({ output: room }),
        }),
      ]),
    ],
    availability: () => ({ name: '', visible: false, responsive: false, lastTouchedAt: 0 }),
  });
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
