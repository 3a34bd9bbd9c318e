import { expect, test } from 'vitest';
import { FIRST_OPERATOR } from '../../auth/principal.ts';
import { OwnTools } from '../own-tools.ts';
import { ToolRegistry } from '../tool-registry.ts';
import { createBuiltinTools } from './builtin-tools.ts';

const registry = new ToolRegistry({
  providers: [
    new OwnTools(
      createBuiltinTools({
        fetch,
        weather: {},
        database: { path: 'x.db', isOwnStore: true, workerPath: 'database-worker.ts' },
      }),
    ),
  ],
  availability: () => ({ name: '', visible: true, responsive: true, lastTouchedAt: 0 }),
});

test('[TR10] the built-in tools are listed with their timeouts', () => {
  const tools = registry.list(FIRST_OPERATOR);
  expect(tools.map(({ name, timeout_ms }) => [name, timeout_ms])).toEqual([
    ['weather.query', 5_000],
    ['database.query', 10_000],
    ['calculation.eval', 3_000],
  ]);
  for (const { annotations, description } of tools) {
    expect(annotations?.readOnlyHint).toBe(true);
    expect(description.length).toBeGreaterThan(50);
  }
});

test('[TR14] slips in the arguments of built-in tools are repaired', () => {
  const weather = registry.find('weather.query')?.best;
  const sum = registry.find('calculation.eval')?.best;
  if (!weather || !sum) throw new Error('not there');
  expect(weather.check({ latitude: '1.5', longitude: '2', days: '3' })).toMatchObject({
    args: { latitude: 1.5, longitude: 2, days: 3 },
  });
  expect(weather.check({ city: 'x', days: 8 }).ok).toBe(false);
  expect(sum.check({ expression: '5' })).toMatchObject({ args: { expression: '5' } });
  expect(sum.check({}).ok).toBe(false);
});
