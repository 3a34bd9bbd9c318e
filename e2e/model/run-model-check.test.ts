import { expect, test } from 'vitest';
import { brokenDesigns } from './design.ts';
import { runModelCheck } from './run-model-check.ts';

const check = runModelCheck({ attempts: 2, instances: 1, faults: 1 });

test('[MC1] no interleaving breaks a promise', () => {
  expect(check.violations).toEqual([]);
  expect(check.states).toBeGreaterThan(10_000);
  expect(check.transitions).toBeGreaterThan(check.states);
});

test('[MC2] every broken design gives a counter-example, as steps that can be read', () => {
  expect(check.broken.filter(({ counterExample }) => counterExample === null)).toEqual([]);
  // Two of them take half a minute, and are left to the long run.
  expect(check.broken).toHaveLength(Object.keys(brokenDesigns).length - 2);
  for (const { counterExample } of check.broken) {
    expect(counterExample).toMatch(/^.+\((a tool with effects|a rerunnable tool), .+\)\n {3}1\. /);
  }
});
