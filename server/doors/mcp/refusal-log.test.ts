import { expect, test } from 'vitest';
import { createManualClock } from '#lib/client/testing/manual-clock';
import { createErrorLog } from '../../testing/error-log.ts';
import { createRefusalLog } from './create-mcp-service.ts';

function setup() {
  const lines: string[] = [];
  const logger = { ...createErrorLog().logger, info: (line: string) => void lines.push(line) };
  const clock = createManualClock();
  return { lines, clock, log: createRefusalLog({ clock, logger }) };
}

test('[MP55] refused requests are two lines of the log in ten seconds, however many there are', () => {
  const { lines, clock, log } = setup();
  for (let at = 0; at < 1_000; at += 1) log.note('Bad Request');
  expect(lines).toEqual(['MCP: "Bad Request"']);
  clock.advance(10_000);
  expect(lines.slice(1)).toEqual(['MCP: 999 more requests were refused']);
  log.note('Bad Request');
  log.note('Bad Request');
  log.close();
  expect(lines.slice(2)).toEqual(['MCP: "Bad Request"', 'MCP: 1 more requests were refused']);
});

test('[MP55] what came in a request makes no line of its own, and is cut', () => {
  const { lines, log } = setup();
  log.note(`names method a\nan operator signed in ${'x'.repeat(10_000)}`);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^MCP: "names method a\\nan operator signed in x{100,}"$/);
  expect(lines[0]?.length).toBeLessThan(300);
});
