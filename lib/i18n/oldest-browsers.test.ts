import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { OLDEST_BROWSERS } from './oldest-browsers.ts';

test.each(['README.md', 'README.zh-CN.md', 'docs/phone.md'])('%s names the oldest ones', (name) => {
  const text = readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
  expect(text).toContain(OLDEST_BROWSERS);
});
