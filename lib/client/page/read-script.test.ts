import { expect, test } from 'vitest';
import { readScript } from './read-script.ts';

const src = 'https://board.example/client.js?v=1';

test('[PG11] the server is the one that the script came from', () => {
  expect(readScript({ src, dataset: { name: 'Shop' } })).toEqual({
    options: { server: 'https://board.example', name: 'Shop', badge: true, webMcp: false },
    problems: [],
  });
});

test('[PG11] server, token and badge are as the tag has them', () => {
  const dataset = { server: 'http://127.0.0.1:3000', token: 'abc', badge: 'off', webmcp: 'on' };
  expect(readScript({ src, dataset })).toEqual({
    options: { server: 'http://127.0.0.1:3000', token: 'abc', badge: false, webMcp: true },
    problems: [],
  });
});

test('[PG11] a badge that makes no sense is warned about, and shown', () => {
  const { options, problems } = readScript({ src, dataset: { badge: 'no' } });
  expect(options.badge).toBe(true);
  expect(problems).toEqual(['data-badge is "no"; it may be "on" or "off". The badge is shown.']);
});

test('[PG11] so is a switch of WebMCP, and it stays off', () => {
  const { options, problems } = readScript({ src, dataset: { webmcp: 'yes' } });
  expect(options.webMcp).toBe(false);
  expect(problems).toHaveLength(1);
});
