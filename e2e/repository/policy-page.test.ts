import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { compilePolicy, decidePolicy } from '#lib/policy/decide-policy';
import { policyDefinitionSchema } from '#lib/policy/policy-definition';

const page = readFileSync(join(resolve(import.meta.dirname, '../..'), 'docs/policy.md'), 'utf8');
const fileSchema = z.object({ policy: policyDefinitionSchema });
const policies = [...page.matchAll(/```json\n(\{\s*"policy"[\s\S]*?)```/g)].map(([, text = '']) =>
  compilePolicy(fileSchema.parse(JSON.parse(text)).policy),
);

/** The rule of the example about /etc that decides of a path that a caller over HTTP has the server write to. */
function ruleOnPath(path: string): string | null {
  const example = policies.find(({ rules }) => rules.some(({ id }) => id === 'no /etc'));
  if (!example) throw new Error('The page has no rule "no /etc"');
  const caller = { kind: 'agent', name: 'bot' } as const;
  const executor = {
    source: 'server',
    clientId: null,
    isUntrusted: false,
    access: 'write',
    schemaHash: 'h',
  } as const;
  const asked = { caller, via: 'http', ...executor, toolName: 'file.write' } as const;
  return decidePolicy(example, { ...asked, args: { path } }).rule;
}

test('each policy on the page on policies is one', () => {
  expect(policies.length).toBeGreaterThan(4);
  const none = policyDefinitionSchema.parse({});
  for (const { definition } of policies) expect(definition).not.toEqual(none);
});

test.each([
  ...['/etc/passwd', '/etc', '//etc/x', '/etc//x', '/tmp/../etc/x', '/./etc/x', '/tmp/..'],
  ...['../etc/x', './x', '..'],
])('[PO3] the rule of the page about /etc denies the path %s', (path) => {
  expect(ruleOnPath(path)).toBe('no /etc');
});

test.each(['/tmp/x', '/etcetera/x', '/srv/etc/x', 'notes/a.txt', '/tmp/..x/.hidden', 'a...b'])(
  '[PO3] the rule of the page about /etc does not deny the path %s',
  (path) => {
    expect(ruleOnPath(path)).toBeNull();
  },
);

test('the page on policies has each key of a policy, a rule and a condition', () => {
  const keys = new Set(keysIn(z.toJSONSchema(policyDefinitionSchema, { io: 'input' })));
  expect(keys).toContain('one_of');
  expect([...keys].filter((key) => !page.includes(key))).toEqual([]);
});

/** Names of properties, at any depth of a JSON Schema. */
function keysIn(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]) =>
    key === 'properties'
      ? [...Object.keys(value), ...Object.values(value).flatMap(keysIn)]
      : keysIn(value),
  );
}
