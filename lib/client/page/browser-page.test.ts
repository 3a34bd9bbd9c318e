import { expect, test, vi } from 'vitest';

test('[PG13] a second copy of the library gives the client of the first', async () => {
  vi.resetModules();
  const first = await import('./browser-page.ts');
  vi.resetModules();
  const second = await import('./browser-page.ts');
  expect(second.pageCallboard).not.toBe(first.pageCallboard);
  expect(second.pageCallboard()).toBe(first.pageCallboard());
});

test('[PG13] nothing of a page is needed before it is used', async () => {
  const { callboard } = await import('./module.ts');
  expect(callboard.tool({ name: 'a', description: 'b', execute: () => 1 })).toBeTypeOf('function');
  expect(callboard.status.get()).toBe('off');
});
