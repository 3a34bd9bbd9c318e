import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { clientMessageSchema } from '#lib/protocol/client-messages';
import { serverMessageSchema } from '#lib/protocol/server-messages';

const root = resolve(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/clients.md'), 'utf8');

/** The row of a message in the table of one section. */
function rowOf(section: string, type: string): string {
  const text = page.split(`## ${section}\n`)[1]?.split('\n## ')[0] ?? '';
  const rows = text.split('\n').filter((line) => line.startsWith('| '));
  return rows.find((row) => row.split('|')[1]?.includes(`\`${type}\``)) ?? '';
}

const messages = (section: string, options: readonly { shape: { type: { value: string } } }[]) =>
  options.map(({ shape: { type, ...fields } }) => [section, type.value, Object.keys(fields)]);

test.each([
  ...messages('What a client sends', clientMessageSchema.options),
  ...messages('What the server sends', serverMessageSchema.options),
] as [string, string, string[]][])(
  '%s: the page on clients has %s with its fields',
  (section, type, fields) => {
    const row = rowOf(section, type);
    expect(row).not.toBe('');
    expect(fields.filter((name) => !new RegExp(`\`${name}\\??\``).test(row))).toEqual([]);
  },
);
