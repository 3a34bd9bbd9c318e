import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { createBrowserTools } from '#lib/browser-tools/browser-tools';
import { everyPart, everyPrompt } from '../../lib/browser-tools/testing/every-part.ts';

const page = readFileSync(
  join(resolve(import.meta.dirname, '../..'), 'docs/browser-tools.md'),
  'utf8',
);

/** A row's cells without code marks. */
const cellsOf = (row: string): string[] =>
  row.split('|').map((cell) => cell.trim().replaceAll('`', ''));

test('the table has each tool of a browser with its arguments and hints, and no other', () => {
  const [table = ''] = page.split('\n## ');
  const rows = table.split('\n').filter((line) => /^\| `[a-z.]+` +\|/.test(line));
  const inTable = rows.map((row) => cellsOf(row).slice(1, 4));
  const inCode = createBrowserTools(everyPart, everyPrompt).map(
    ({ name, parameters, annotations }) => {
      const { properties = {}, required = [] } = parameters as {
        properties?: object;
        required?: readonly string[];
      };
      const args = Object.keys(properties).map((arg) => (required.includes(arg) ? arg : `${arg}?`));
      return [name, args.join(', '), annotations?.readOnlyHint ? 'reads' : 'acts'];
    },
  );
  expect(inTable).toEqual(inCode);
});
