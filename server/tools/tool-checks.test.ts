import { expect, test } from 'vitest';
import { createSecrets } from '#lib/text/secrets';
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

test('[TR20] what is secret is in nothing that is said of a tool', () => {
  const { hide } = createSecrets([{ kind: 'configured', value: 'canary-7f3a' }]);
  const key = 'Uses canary-7f3a';
  const parameters = { type: 'object', properties: { a: { type: 'string', description: key } } };
  const spec = { ...tool, description: key, display_name: key, parameters };
  const shown = 'Uses [redacted:configured]';
  expect(checkedAlone(spec, hide)).toMatchObject({
    tool: {
      ...{ description: shown, displayName: shown },
      schema: { properties: { a: { description: shown } } },
    },
  });
});
