import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ConfigError } from './config-error.ts';
import { preparePages } from './pages.ts';

test('a server whose pages are not built says so at its start, not at the first page', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'callboard-pages-'));
  const starting = preparePages({ dir, development: false, hostname: '127.0.0.1', port: 0 });
  await expect(starting).rejects.toThrow(
    new ConfigError('The pages are not built: run "npm run build".'),
  );
});
