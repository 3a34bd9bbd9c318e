import { expect, test } from 'vitest';
import type { RunRecord } from '#lib/protocol/run';
import type { RunService } from '../runs/agent-runs.ts';
import { fakeRuns } from './testing/fake-services.ts';
import { startTestServer, TOKENS } from './testing/start-test-server.ts';

const helper = { token: TOKENS.agent };
const owner = { name: 'agent:helper', token_id: 'tok_helper' };

/** Its run `run_own` is the helper's, `run_a` is the first operator's. */
async function setup() {
  const base = await fakeRuns.get('run_a');
  if (!base) throw new Error('the fake has no run');
  const own: RunRecord = { ...base, run_id: 'run_own', owner };
  const asked: unknown[] = [];
  const runs: RunService = {
    ...fakeRuns,
    get: async (id) => (id === 'run_own' ? own : fakeRuns.get(id)),
    list: async (query) => {
      asked.push(query);
      return { runs: [own], nextCursor: null };
    },
    send: async (id, request) => {
      asked.push([id, request]);
      return { ok: true, run: own };
    },
    cancel: async (id) => {
      asked.push(id);
      return { ok: true, run: own };
    },
  };
  return { server: await startTestServer({ deps: { runs } }), asked };
}

test('[HT63] what a person writes in the run of another is theirs, and is written down', async () => {
  const { server, asked } = await setup();
  await server.post('/v1/runs/run_own/messages', { input: 'on' }, { token: TOKENS.colleague });
  const by = expect.objectContaining({ tokenId: 'tok_olga' });
  expect(asked).toEqual([['run_own', { input: 'on', by }]]);
  expect(server.audited).toMatchObject([
    { act: 'message_sent', actor: 'operator:olga', target: 'run_own', detail: {} },
  ]);
  await server.post('/v1/runs/run_own/messages', { input: 'on' }, helper);
  expect(server.audited).toHaveLength(1);
});

test('[HT77] a run says of each tool whether it is offered, or why not, by pages and by kind', async () => {
  const { server } = await setup();
  const page = async (query: string) => (await server.get(`/v1/runs/run_a/tools${query}`)).json;
  const first = await page('?limit=3');
  expect(first).toMatchObject({
    ...{ run_id: 'run_a', next_after: 'c', counts: { offered: 3, over_limit: 1 } },
    tools: [{ name: 'a', offer: 'offered' }, { name: 'b' }, { name: 'c', offer: 'over_limit' }],
  });
  const names = ({ tools }: typeof first) => tools.map(({ name }: { name: string }) => name);
  expect(names(await page('?limit=3&after=c'))).toEqual(['d']);
  expect((await page('?after=c')).next_after).toBeNull();
  expect(names(await page('?offer=over_limit'))).toEqual(['c']);
  expect((await server.get('/v1/runs/run_a/tools?offer=some')).status).toBe(400);
  const foreign = await server.get('/v1/runs/run_a/tools', helper);
  const missing = await server.get('/v1/runs/run_x/tools', helper);
  expect([foreign.status, missing.status]).toEqual([404, 404]);
});
