import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/** What a program that logs writes on standard error. */
function lines(program: string): string {
  const module = join(import.meta.dirname, 'logger.ts');
  const source = `import { createLogger } from ${JSON.stringify(module)};
    const token = 'ghp_' + 'a1B2'.repeat(9);
    const log = createLogger();
    log.hide((text) => text.replaceAll('canary-7f3a', '[known]').replaceAll(token, '[redacted:token]'));
    ${program}`;
  const run = spawnSync(process.execPath, ['--input-type=module', '-e', source]);
  expect(run.status, run.stderr.toString()).toBe(0);
  return run.stderr.toString();
}

test('T97 no line of the log has a token or a known secret', () => {
  const written = lines(`
    log.info('a line with ' + token + ' and canary-7f3a');
    log.error(new Error('failed with ' + token, { cause: new Error('canary-7f3a') }), 'canary-7f3a');`);
  expect(written).toContain('a line with [redacted:token] and [known]');
  expect(written).toContain('failed with [redacted:token]');
  expect(written).not.toMatch(/ghp_|canary-7f3a/);
});

test('[CW11] one line is without what is secret for it alone', () => {
  const written = lines(`
    log.error(new Error('open-sesame'), 'first', (line) => line.replaceAll('open-sesame', '[own]'));
    log.error(new Error('open-sesame'), 'second');`);
  const [first, second] = written.split('\n');
  expect(first).toContain('[own]');
  expect(first).not.toContain('open-sesame');
  expect(second).toContain('open-sesame');
});
