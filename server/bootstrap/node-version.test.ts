import { expect, test } from 'vitest';
import { runsCallboard, runsLauncher } from './node-version.mjs';

test.each(['24.21.0', '24.30.1', '26.0.0', '26.10.0', '100.0.0'])('it runs on %s', (version) => {
  expect(runsCallboard(version)).toBe(true);
});

test.each(['18.20.8', '20.20.2', '22.23.2', '24.20.0', '25.9.0'])('%s gets its own', (version) => {
  expect(runsCallboard(version)).toBe(false);
});

test('the launcher runs from 20.20 on', () => {
  expect(['20.20.0', '20.20.2', '22.0.0', '26.10.0'].filter(runsLauncher)).toHaveLength(4);
  expect(['20.19.9', '18.99.0', '9.99.99'].filter(runsLauncher)).toEqual([]);
});
