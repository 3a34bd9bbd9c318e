import { expect, test } from 'vitest';
import { operator, tool } from '../../calls/testing/setup-calls.ts';
import type { ScriptedReply } from '../../testing/scripted-openai-events.ts';
import { setupAsking } from './testing/setup-asking.ts';

const CALL = { calls: [{ name: 'shot', args: {} }] };
const DONE = { text: 'Done.' };

/** Two visible clients with one tool, and a model that says what the test wrote down, in order. */
async function setup(replies: readonly ScriptedReply[], dir?: string) {
  const server = await setupAsking(replies, dir === undefined ? {} : { dir });
  const clients = ['mine', 'other'].map((id) => server.connect(id, { claims: true }));
  for (const client of clients) client.offer(tool('shot'));
  const [mine, other] = clients;
  if (!mine || !other) throw new Error('two clients');
  /** Whatever a person did last, it was at the other one. */
  const touchOther = () => {
    server.clock.advance(1);
    server.table.touch(other.instanceId);
  };
  touchOther();
  const answer = async (client: typeof mine, count: number) => {
    await expect.poll(() => client.requests().length).toBe(count);
    const request = client.requests().at(-1);
    if (!request) throw new Error('not asked');
    await client.claim(request.id, request.attempt);
    await client.succeed(request.id, 'a picture', request.attempt);
  };
  return { ...server, mine, other, answer, touchOther };
}

test('[CR1] the calls of a turn ask the client whose person wrote the message, at each step', async () => {
  const { runs, mine, other, answer, touchOther, ended } = await setup([
    ...[CALL, CALL, DONE, CALL],
  ]);
  const started = await runs.start({ principal: operator, input: 'Shoot', clientId: 'mine' });
  if (!started.ok) throw new Error(started.message);
  const { run_id, messages } = started.run;
  expect(messages[0]).toMatchObject({ role: 'user', client_id: 'mine' });
  await answer(mine, 1);
  touchOther();
  await answer(mine, 2);
  await ended(run_id);
  expect(other.requests()).toEqual([]);
  // The next message comes from elsewhere, and its turn with it.
  await runs.send(run_id, { input: 'Again', clientId: 'other' });
  await answer(other, 1);
  await runs.cancel(run_id);
  expect(mine.requests()).toHaveLength(2);
});

test('[CR1] a turn that goes on after a restart still asks the client that the message came from', async () => {
  const hangs = { ...DONE, stall: { at: 0, until: new Promise(() => {}) } };
  const before = await setup([CALL, hangs]);
  const input = { principal: operator, input: 'Shoot', clientId: 'mine' };
  const started = await before.runs.start(input);
  if (!started.ok) throw new Error(started.message);
  const { run_id } = started.run;
  await before.answer(before.mine, 1);
  await expect.poll(() => before.openai.requests.length).toBe(2);
  await before.end();
  const after = await setup([CALL], before.dir);
  await after.calls.recover();
  await after.runs.recover();
  await after.answer(after.mine, 1);
  await after.ended(run_id);
  expect((await after.runs.get(run_id))?.messages[0]?.client_id).toBe('mine');
  expect(after.other.requests()).toEqual([]);
});
