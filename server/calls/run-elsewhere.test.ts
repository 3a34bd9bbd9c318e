import { expect, test } from 'vitest';
import { FIRST_OPERATOR, type Principal } from '../auth/principal.ts';
import { testPolicy } from '../policy/testing/test-policy.ts';
import { operator, reading, setupCalls, tool } from './testing/setup-calls.ts';

/** A call of a tool that only reads at the phone, that has ended there, and a laptop with another tool of that name. */
async function ended(laptopTool: object, policy: object = {}) {
  const { check, denial } = testPolicy(policy);
  const one = await setupCalls({ check, denial });
  const [phone, laptop] = [one.connect('phone'), one.connect('laptop')];
  phone.offer(tool('where', reading));
  laptop.offer(laptopTool);
  const { id } = await one.invoke('where', { n: 1 }, { clientId: 'phone' });
  await phone.succeed(id, 'here');
  await one.settle();
  return { ...one, phone, laptop, id };
}

test('[RT67] a retry for another client goes to that one alone, with the same arguments', async () => {
  const { calls, phone, laptop, id, settle } = await ended(tool('where', reading));
  const again = await calls.retry(id, operator, { clientId: 'laptop' });
  expect(again).toMatchObject({
    call: { retryOf: id, wantedClientId: 'laptop', card: { client_name: 'laptop' } },
  });
  await settle();
  expect(laptop.requests()).toMatchObject([{ args: { n: 1 } }]);
  expect(phone.requests()).toHaveLength(1);
});

test('[RT67] it is checked by that client’s schema, and refused where the client does not offer the tool', async () => {
  const strict = { properties: { n: { type: 'string', pattern: '^x$' } } };
  const { calls, laptop, id } = await ended(tool('where', { parameters: strict }));
  expect(await calls.retry(id, operator, { clientId: 'laptop' })).toMatchObject({
    ...{ ok: false, code: 'invalid_args' },
  });
  expect(await calls.retry(id, operator, { clientId: 'fridge' })).toMatchObject({
    ...{ ok: false, code: 'no_provider' },
  });
  expect(laptop.requests()).toEqual([]);
});

test('[RT67] it is decided by that client’s hints: what only reads at one waits for a person at the other', async () => {
  const destructive = { annotations: { destructiveHint: true } };
  const { calls, laptop, id, settle, call } = await ended(tool('where', destructive));
  const principal: Principal = { kind: 'run', runId: 'run_1', owner: FIRST_OPERATOR };
  const again = await calls.retry(id, principal, { clientId: 'laptop' });
  if (!again.ok) throw new Error(again.message);
  expect(again.call).toMatchObject({ phase: 'approval', card: { client_name: 'laptop' } });
  await settle();
  expect(laptop.requests()).toEqual([]);
  await calls.decide(again.call.id, operator, { decision: 'yes' });
  await settle();
  expect(laptop.requests()).toMatchObject([{ id: again.call.id }]);
  expect((await call(again.call.id)).annotations).toEqual({ destructiveHint: true });
});

test('[RT67] without a client it goes where the first was wanted', async () => {
  const { calls, phone, id, settle } = await ended(tool('where', reading));
  await calls.retry(id, operator);
  await settle();
  expect(phone.requests()).toHaveLength(2);
});
