import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { HTTP_ERRORS } from '#lib/protocol/http-error';

const root = resolve(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/additions.md'), 'utf8');

/** Contract, section 9. */
const IN_THE_CONTRACT = [
  ...['bad_request', 'unauthenticated', 'permission_denied', 'origin_not_allowed'],
  ...['tool_not_found', 'call_not_found', 'run_not_found', 'already_final', 'conflict'],
  ...['too_large', 'invalid_args', 'rate_limited', 'no_provider', 'shutting_down'],
];

test('the page on additions lists each further code of an HTTP error, with its status', () => {
  const rows = page.split('\n').filter((line) => line.startsWith('| '));
  const missing = Object.entries(HTTP_ERRORS).filter(
    ([code, status]) =>
      !IN_THE_CONTRACT.includes(code) &&
      !rows.some((row) => row.includes(`\`${code}\``) && row.includes(` ${status} `)),
  );
  expect(missing).toEqual([]);
});
