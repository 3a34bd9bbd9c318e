import { expect, test } from 'vitest';
import { brokenDesigns } from './design.ts';
import { runModelCheck } from './run-model-check.ts';

/** Each takes another rule of `engine-loop.ts` away. */
const BROKEN_LOOPS = [
  'no effect waits for the disk',
  'starts what ended while its start waited',
  'a cancel takes back a grant that has left',
  'effects of an append that was refused happen',
  'a start whose event was refused forgets it',
];

/** Each takes the log, or what a commit is whose answer is lost, for something else. */
const BROKEN_LOGS = [
  'the log does not say that a call was granted',
  'a lost answer of a commit passes for a good one',
  'a lost answer of a commit passes for a refusal',
  'a server that can write nothing more answers its clients',
  'a start trusts what was in memory of a lost answer',
];

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

test('[MC3] [CE6] without a rule of the engine’s loop a promise breaks', () => {
  const broken = new Map(check.broken.map(({ name, counterExample }) => [name, counterExample]));
  for (const name of BROKEN_LOOPS) expect(broken.get(name), name).toMatch(/^P\d: /);
});

test('[MC92] the log alone says what a call is, also of a commit whose answer was lost', () => {
  const broken = new Map(check.broken.map(({ name, counterExample }) => [name, counterExample]));
  for (const name of BROKEN_LOGS) expect(broken.get(name), name).toMatch(/\n {3}1\. /);
});
