import { expect, test } from 'vitest';
import { checkedAlone } from './testing/register-tools.ts';

const tool = { name: 'scan', description: 'Scans', parameters: { type: 'object' } };

test.each([
  ['display_name', (text: string) => ({ display_name: text })],
  ['annotations.title', (text: string) => ({ annotations: { title: text } })],
])('[TR4] a long %s is refused', (name, field) => {
  expect(checkedAlone({ ...tool, ...field('x'.repeat(100)) }).ok).toBe(true);
  const { ok, ...rest } = checkedAlone({ ...tool, ...field('x'.repeat(1_000)) });
  expect(ok).toBe(false);
  expect(rest).toMatchObject({ rejected: { code: 'bad_tool', name: 'scan' } });
  expect(JSON.stringify(rest)).toContain(name);
});
