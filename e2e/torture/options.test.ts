import { expect, test } from 'vitest';
import { readOptions } from './options.ts';

const read = (...args: string[]) =>
  readOptions(args, {
    newSeed: () => 'new',
    scenarios: ['F01', 'F03', 'model'],
    mutants: ['no fsync', 'no lock'],
  });

test('some scenarios are chosen by their ids, mutants by words of their names', () => {
  expect(read('--only', 'F01,model')).toMatchObject({ only: ['F01', 'model'], seed: 'new' });
  expect(read('--mutant', 'fsync')).toMatchObject({ mutant: 'fsync', only: [] });
});

test.each<[string[], string]>([
  [['--only', 'F01,F3'], '--only has "F3"; there is F01, F03, model'],
  [['--only', 'F01, F03'], '--only has " F03"; there is F01, F03, model'],
  [['--mutant', 'no sync'], 'no mutant has "no sync" in its name'],
  [['--cycles', 'many'], '--cycles was "many"; it is a whole number from 1 on'],
])('%j is an error, and nothing is run', (args, message) => {
  expect(() => read(...args)).toThrow(message);
});
