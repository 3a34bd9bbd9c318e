import { expect, test } from 'vitest';
import { toInternalPath } from './internal-path.ts';

test.each([
  ['/tools', '/tools'],
  ['/?run=run_1', '/?run=run_1'],
  ['/tools?tool=a.b#x', '/tools?tool=a.b#x'],
])('%s stays', (wanted, path) => {
  expect(toInternalPath(wanted)).toBe(path);
});

test.each([
  'https://evil.example/',
  '//evil.example/',
  '/\\evil.example/',
  '/\t/evil.example/',
  '//',
  '//x//evil.example/',
  '/.//evil.example/',
  '/a/..//evil.example/',
  'javascript:alert(1)',
  'tools',
  '',
  undefined,
  ['/tools', '/other'],
])('%j leads to the workbench', (wanted) => {
  expect(toInternalPath(wanted)).toBe('/');
});
