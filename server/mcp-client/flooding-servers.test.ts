import { expect, test } from 'vitest';
import { setupServers } from './testing/setup-servers.ts';

/** A program of the older protocol that answers `tools/list` by `list`, and then does `after`. */
const hostile = (list: string, after = '') => {
  const script = `
    const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
    const answer = ({ id, method, params }) => {
      if (id === undefined) return;
      if (method === 'initialize') {
        const { protocolVersion } = params;
        const serverInfo = { name: 'hostile', version: '1' };
        return send({ id, result: { protocolVersion, serverInfo, capabilities: { tools: {} } } });
      }
      if (method !== 'tools/list') return send({ id, error: { code: -32601, message: 'no' } });
      process.stderr.write('asked for a page\\n');
      send({ id, result: ${list} });
      ${after}
    };
    require('readline').createInterface({ input: process.stdin }).on('line', (line) => answer(JSON.parse(line)));`;
  return { command: process.execPath, args: ['-e', script] };
};

test('[MC72] a list whose pages are too large together is not taken, and not read to its end', async () => {
  const page = `{ tools: [{ name: 'a' + Math.random(), inputSchema: { type: 'object' }, more: 'x'.repeat(4_000_000) }], nextCursor: 'more' }`;
  const world = await setupServers({ servers: { pages: hostile(page) } });
  await world.until('pages', {
    state: 'failed',
    last_error: { message: expect.stringMatching(/list of tools is larger than what is read/) },
  });
  expect(world.wire('pages').stderr_tail?.match(/asked for a page/g)).toHaveLength(4);
  expect(world.names().filter((name) => name.startsWith('pages.'))).toEqual([]);
}, 30_000);

const FLOODS = [
  ['text that is no message', 'x', 30_000],
  ['messages that make no sense', '{"a":1}', 8_000],
] as const;

test.each(FLOODS)(
  '[MC73] a program that writes %s without an end leaves time for all else',
  async (_, line, count) => {
    const flood = `const lines = (${JSON.stringify(line)} + '\\n').repeat(${count});
      const go = () => { while (process.stdout.write(lines)); process.stdout.once('drain', go); };
      go();`;
    const list = `{ tools: [{ name: 'a', inputSchema: { type: 'object' } }] }`;
    const world = await setupServers({ servers: { loud: hostile(list, flood) } });
    await world.until('loud', { state: 'connected' });
    const since = performance.now();
    for (let turn = 0; turn < 20; turn += 1) await new Promise((done) => setTimeout(done, 10));
    // One turn alone took over a second.
    expect(performance.now() - since).toBeLessThan(4_000);
  },
  60_000,
);
