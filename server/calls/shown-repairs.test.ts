import { expect, test } from 'vitest';
import { operator, setupCalls, tool } from './testing/setup-calls.ts';

/** A phone with a tool `pay` of these parameters. */
async function setup(properties: object, more: Parameters<typeof setupCalls>[0] = {}) {
  const one = await setupCalls(more);
  const phone = one.connect('phone', { claims: true });
  const offer = (parameters: object) =>
    phone.offer(tool('pay', { parameters: { type: 'object', properties: parameters } }));
  offer(properties);
  const repairsOf = async (id: string) => {
    await one.settle();
    expect((await one.call(id)).card.repairs).toEqual(one.cardOf(id)?.repairs);
    return one.cardOf(id)?.repairs;
  };
  const draft = () =>
    one.calls.draft({
      principal: operator,
      runId: 'run_1',
      tool: 'pay',
    });
  return { ...one, phone, offer, repairsOf, draft };
}

const PAY = {
  amount: { type: 'number' },
  to: { type: 'array', items: { type: 'object', properties: { id: { type: 'integer' } } } },
};
const asking = { check: () => ({ verdict: 'ask' as const, reason: 'It pays' }) };

test('[CA40] the card names the arguments that were repaired, in the order of the schema check', async () => {
  const { invoke, repairsOf, draft, call } = await setup(PAY);
  const args = { amount: '5', to: '{"id": "7"}' };
  const shown = { paths: ['amount', 'to', 'to[0].id'], count: 3 };
  const invoked = await invoke('pay', args);
  expect(await repairsOf(invoked.id)).toEqual(shown);
  expect((await call(invoked.id)).args).toEqual({ amount: 5, to: [{ id: 7 }] });
  const written = await (await draft()).complete(args);
  expect(await repairsOf(written.id)).toEqual(shown);
  const plain = await invoke('pay', { amount: 5 });
  expect(await repairsOf(plain.id)).toBeUndefined();
});

test('[CA40] a person who is asked to approve sees them, and an edit has its own', async () => {
  const { invoke, calls, repairsOf } = await setup(PAY, asking);
  const one = await invoke('pay', { amount: '5' });
  expect(await repairsOf(one.id)).toEqual({ paths: ['amount'], count: 1 });
  await calls.decide(one.id, operator, { decision: 'yes', args: { amount: 4, to: { id: 1 } } });
  expect(await repairsOf(one.id)).toEqual({ paths: ['to'], count: 1 });
  const other = await invoke('pay', { amount: '5' });
  await calls.decide(other.id, operator, { decision: 'yes', args: { amount: 4 } });
  expect(await repairsOf(other.id)).toBeNull();
});

test('[CA40] what a changed schema has repaired while the call waited is added', async () => {
  const { invoke, calls, repairsOf, offer, phone } = await setup(
    { amount: { type: 'number' }, note: {} },
    asking,
  );
  const { id } = await invoke('pay', { amount: '5', note: 'true' });
  offer({ amount: { type: 'number' }, note: { type: 'boolean' } });
  await calls.decide(id, operator, { decision: 'yes' });
  expect(await repairsOf(id)).toEqual({ paths: ['amount', 'note'], count: 2 });
  await calls.decide(id, operator, { decision: 'yes' });
  await repairsOf(id);
  expect(phone.requests()).toMatchObject([{ args: { amount: 5, note: true } }]);
});

test('[CA40] the card has the first ten, cut short, and the count of all', async () => {
  const { invoke, repairsOf } = await setup({ to: { additionalProperties: { type: 'number' } } });
  const to = Object.fromEntries(
    Array.from({ length: 300 }, (_, n) => [`${n}${'é'.repeat(200)}`, '5']),
  );
  const repairs = await repairsOf((await invoke('pay', { to })).id);
  expect(repairs).toMatchObject({ count: 300 });
  expect(repairs?.paths).toHaveLength(10);
  expect(JSON.stringify(repairs).length).toBeLessThan(2_000);
});
