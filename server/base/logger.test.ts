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

test('[LG4] an unexpected error that many hear of is one line', () => {
  const written = lines(`
    const error = new Error('the disk is full');
    for (let n = 0; n < 3; n += 1) log.error(error);
    log.error(error, 'what failed by it');
    log.error(new Error('the disk is full'));`);
  expect(written.match(/"msg":"[^"]+"/g)).toEqual([
    '"msg":"unexpected"',
    '"msg":"what failed by it"',
    '"msg":"unexpected"',
  ]);
});

const ALL = `
  log.failure('it ends');
  log.error(new Error('broken'), 'an error', undefined, { tool_call_id: 'tc_1' });
  log.warn('a warning');
  log.info('a note', { run_id: 'run_1', tool: 'two words', none: undefined });
  log.debug('a detail');`;

test.each([
  ['error', ['it ends', 'an error']],
  ['warn', ['it ends', 'an error', 'a warning']],
  ['info', ['it ends', 'an error', 'a warning', 'a note']],
  ['debug', ['it ends', 'an error', 'a warning', 'a note', 'a detail']],
])('[LG1] [LG2] at the level %s these lines are written, in both formats', (level, wanted) => {
  for (const format of ['text', 'json']) {
    const settings = JSON.stringify({ level, format });
    const written = lines(`log.set(${settings}); ${ALL}`).trimEnd().split('\n');
    expect(written).toHaveLength(wanted.length);
    for (const [at, words] of wanted.entries()) expect(written[at]).toContain(words);
    if (format === 'json') for (const line of written) expect(JSON.parse(line).msg).toBeTruthy();
  }
});

test('[LG2] [LG4] a line has what it is about, which is no second line', () => {
  const fields = `{ run_id: 'run_1', tool: 'x\\ny', none: undefined }`;
  expect(lines(`log.info('a note', ${fields})`)).toBe('a note run_id=run_1 tool="x\\ny"\n');
  const json = lines(`log.set({ level: 'info', format: 'json' }); log.info('a note', ${fields})`);
  expect(JSON.parse(json)).toMatchObject({ msg: 'a note', run_id: 'run_1', tool: 'x\ny' });
  const error = lines(`log.error(new Error('x'), 'y', undefined, { tool_call_id: 'tc_1' })`);
  expect(JSON.parse(error)).toMatchObject({ msg: 'y', tool_call_id: 'tc_1' });
});

test('[LG5] no line has a secret in its text or its fields, in either format', () => {
  for (const format of ['text', 'json']) {
    const written = lines(`
      log.set({ level: 'debug', format: '${format}' });
      for (const write of [log.failure, log.warn, log.info, log.debug])
        write('canary-7f3a ' + token, { tool: 'canary-7f3a', other: token });`);
    expect(written.match(/\[known\]/g)?.length).toBeGreaterThanOrEqual(7);
    expect(written).not.toMatch(/ghp_|canary-7f3a/);
  }
});
