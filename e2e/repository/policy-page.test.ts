import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { compilePolicy } from '#lib/policy/decide-policy';
import { policyDefinitionSchema } from '#lib/policy/policy-definition';

const page = readFileSync(join(resolve(import.meta.dirname, '../..'), 'docs/policy.md'), 'utf8');
const fileSchema = z.object({ policy: policyDefinitionSchema });

test('each policy on the page on policies is one', () => {
  const files = [...page.matchAll(/```json\n(\{\s*"policy"[\s\S]*?)```/g)];
  expect(files.length).toBeGreaterThan(4);
  for (const [, text = ''] of files) {
    const { policy } = fileSchema.parse(JSON.parse(text));
    const { rules, limits } = compilePolicy(policy);
    expect(rules.length + limits.length).toBeGreaterThan(0);
  }
});

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
