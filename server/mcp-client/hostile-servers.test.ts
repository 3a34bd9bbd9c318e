import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createManualClock } from '#lib/client/testing/manual-clock';
import { serveHttp } from '#lib/net/testing/serve-http';
import { operator } from '../calls/testing/setup-calls.ts';
import {
  newDir,
  program,
  setupServers,
  startHttpFixture,
  toolsFile,
} from './testing/setup-servers.ts';

const OPEN = { type: 'object' };
const tool = (name: string, more: object = {}) => ({
  ...{ name, description: 'A tool', inputSchema: OPEN },
  ...more,
});

/** Each level twice the one below. */
const bomb = () => {
  const levels = Array.from({ length: 30 }, (_, at) => [
    `l${at}`,
    { allOf: [{ $ref: `#/$defs/l${at + 1}` }, { $ref: `#/$defs/l${at + 1}` }] },
  ]);
  const $defs = Object.fromEntries([...levels, ['l30', { type: 'string' }]]);
  return { type: 'object', properties: { a: { $ref: '#/$defs/l0' } }, $defs };
};
const deep = () => {
  let schema: object = { type: 'object' };
  for (let level = 0; level < 200; level += 1)
    schema = { type: 'object', properties: { a: schema } };
  return schema;
};

test('[MC10] a tool that is refused is shown with the reason, and the others are offered', async () => {
  const file = toolsFile(
    tool('good', {
      description: 'Reads\u{e0041}\u200b a file',
      annotations: { readOnlyHint: true },
    }),
    tool('bomb', { inputSchema: bomb() }),
    tool('deep', { inputSchema: deep() }),
    tool('regex', {
      inputSchema: { type: 'object', properties: { a: { type: 'string', pattern: '(a+)+\\1$' } } },
    }),
    tool('twice', { description: 'The first' }),
    tool('twice', { description: 'The second' }),
    tool('long', { description: 'x'.repeat(100_000) }),
    tool('no words', { description: '' }),
    tool('', { description: 'Without a name' }),
  );
  const world = await setupServers({ servers: { files: program('legacy', file.path) } });
  await world.until('files', { state: 'connected' });
  const { rejected } = world.wire('files');
  expect(rejected.map(({ name, code }) => [name, code]).sort()).toEqual([
    ['', 'bad_name'],
    ['bomb', expect.stringMatching(/^schema_/)],
    ['deep', 'schema_too_deep'],
    ['twice', 'name_collides'],
  ]);
  const listed = world.calls.registry.list(operator);
  const of = (name: string) => listed.find((one) => one.name === name);
  expect(of('files.good')).toMatchObject({ description: 'Reads a file', callable: true });
  expect(of('files.good')?.annotations).not.toHaveProperty('readOnlyHint', true);
  expect(of('files.twice')?.description).toBe('The first');
  // A pattern that cannot be checked is named; nothing ever runs it.
  expect(of('files.regex')).toMatchObject({
    callable: true,
    unchecked: ['#/properties/a/pattern'],
  });
  expect(of('files.long')?.description).toHaveLength(1_024);
  expect(listed.find(({ name }) => name.startsWith('files.no_words-'))?.callable).toBe(true);
}, 30_000);

test('[MC13] of 10,000 tools 500 are offered, and what is above is counted', async () => {
  const file = toolsFile(...Array.from({ length: 10_000 }, (_, at) => tool(`t${at}`)));
  const world = await setupServers({ servers: { many: program('legacy', file.path) } });
  await world.until('many', { state: 'connected', rejected_count: 9_500 });
  expect(world.callable().filter((name) => name.startsWith('many.'))).toHaveLength(500);
}, 30_000);

test('[MC5] a program is given what its configuration names, and no variable of the server', async () => {
  vi.stubEnv('CALLBOARD_TEST_SECRET', 'of the server');
  onTestFinished(() => void vi.unstubAllEnvs());
  const files = { ...program('modern'), env: { GIVEN: 'yes' } };
  const world = await setupServers({ servers: { files } });
  await world.until('files', {
    state: 'connected',
    stderr_tail: expect.stringContaining(' GIVEN '),
  });
  expect(world.wire('files').stderr_tail).toMatch(/\bPATH\b/);
  expect(world.wire('files').stderr_tail).not.toContain('CALLBOARD_TEST_SECRET');
}, 30_000);

test('[MC21] a call that may be repeated is made again at a server that is trusted, and at no other', async () => {
  const [first, second] = [join(newDir(), 'marker'), join(newDir(), 'marker')];
  const servers = { trusted: { ...program('modern'), trust: true }, other: program('modern') };
  const world = await setupServers({ servers });
  await world.until('trusted', { state: 'connected' });
  await world.until('other', { state: 'connected' });
  const repeated = await world.calls.invoke('trusted.flaky', { marker: first });
  const lost = await world.calls.invoke('other.flaky', { marker: second });
  for (const [id, marker] of [
    ['trusted', first],
    ['other', second],
  ] as const) {
    await world.until(id, { stderr_tail: expect.stringMatching(/leaving/) });
    writeFileSync(marker, '');
  }
  expect(await world.ended(repeated.id)).toMatchObject({ result: 'at the second time' });
  expect((await world.ended(lost.id)).error).toMatchObject({ code: 'outcome_unknown' });
}, 30_000);

const isCall = (body: string): boolean => body.includes('"tools/call"');

test('[MC21] a server behind HTTP that cuts each call off is asked twice, and not in a circle', async () => {
  let calls = 0;
  const isCut = (body: string) => {
    if (isCall(body)) calls += 1;
    return isCall(body);
  };
  const { url } = await startHttpFixture({ isCut });
  const world = await setupServers({ servers: { web: { url, trust: true } } });
  await world.until('web', { state: 'connected' });
  const { id } = await world.calls.invoke('web.echo', { text: 'again' });
  expect((await world.ended(id)).error).toMatchObject({
    ...{ code: 'outcome_unknown', executed: 'unknown' },
  });
  expect(calls).toBe(2);
  expect(world.wire('web').state).toBe('connected');
}, 30_000);

test('[MC24] a program that never answers and does not end is killed when Callboard stops', async () => {
  const pidFile = join(newDir(), 'pid');
  const script = `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000);
    process.stdin.resume(); require('fs').writeFileSync(${JSON.stringify(pidFile)}, String(process.pid));`;
  const servers = { stubborn: { command: process.execPath, args: ['-e', script] } };
  const world = await setupServers({ servers });
  await vi.waitFor(() => expect(existsSync(pidFile)).toBe(true), { timeout: 10_000 });
  expect(world.wire('stubborn').state).toBe('connecting');
  const pid = Number(readFileSync(pidFile, 'utf8'));
  const since = performance.now();
  await world.close();
  // The package itself takes four seconds, and all of Callboard stops within five.
  expect(performance.now() - since).toBeLessThan(3_500);
  expect(() => process.kill(pid, 0)).toThrow(/ESRCH/);
}, 30_000);

test('[MC20] what cannot be started says why, and is tried again later each time', async () => {
  const clock = createManualClock();
  const servers = { none: { command: '/nowhere/server' } };
  const world = await setupServers({ servers, clock });
  for (const seconds of [1, 1, 2, 4, 8, 16, 30, 30]) {
    const next_try_at = clock.now() / 1_000 + seconds;
    await world.until('none', { state: 'failed', next_try_at });
    expect(world.wire('none').last_error?.message).toMatch(/ENOENT/);
    clock.advance(seconds * 1_000);
  }
}, 30_000);

test('[MC26] a server behind HTTP that is away is noticed within a minute', async () => {
  const clock = createManualClock();
  const fixture = await startHttpFixture();
  const world = await setupServers({ servers: { web: { url: fixture.url } }, clock });
  await world.until('web', { state: 'connected' });
  await fixture.stop();
  clock.advance(60_000);
  await world.until('web', { state: expect.stringMatching(/waiting|failed/) });
  expect(world.wire('web').last_error?.message).toContain('ECONNREFUSED');
  expect(world.callable()).not.toContain('web.echo');
  expect(world.names()).toContain('web.echo');
}, 30_000);

test('[MC26] a redirect to another origin is not followed, so no header goes there', async () => {
  const other = await startHttpFixture();
  const { origin, close } = await serveHttp((_, outgoing) => {
    outgoing.writeHead(307, { location: other.url }).end();
  });
  onTestFinished(close);
  const web = { url: `${origin}/mcp`, headers: { 'X-Api-Key': 'secret-of-one' } };
  const world = await setupServers({ servers: { web } });
  await world.until('web', { state: 'failed' });
  expect(other.seen).toEqual([]);
}, 30_000);

test('[MC31] a result that is too large for the record fails the call', async () => {
  const world = await setupServers({ servers: { files: program('modern') } });
  await world.until('files', { state: 'connected' });
  const { id } = await world.calls.invoke('files.huge', { count: 9_000_000 });
  expect((await world.ended(id)).error).toMatchObject({
    code: 'result_too_large',
    executed: 'yes',
  });
  expect(world.wire('files').state).toBe('connected');
}, 30_000);
