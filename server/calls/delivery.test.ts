import { expect, test } from 'vitest';
import { CLOCKS } from '#lib/protocol/limits';
import { operator, setupCalls, tool } from './testing/setup-calls.ts';

async function setup() {
  const one = await setupCalls();
  /** It had begun the call when its page died. */
  const back = async (client: ReturnType<typeof one.connect>, id: string) => {
    await client.back([{ id, attempt: 1, phase: 'started' }]);
    client.offer(tool('camera'));
  };
  /** Three offers that are not claimed. */
  const withOpenCircuit = async () => {
    const call = await one.invoke('camera');
    for (let time = 0; time < 3; time += 1) {
      one.clock.advance(CLOCKS.startMs);
      await one.settle();
    }
    return call;
  };
  const claiming = (clientId: string) => {
    const client = one.connect(clientId, { claims: true, epoch: 'e1' });
    client.offer(tool('camera'));
    return client;
  };
  return { ...one, back, withOpenCircuit, claiming };
}

test('[BR5] an offer that is not claimed counts, and after three nobody is asked', async () => {
  const { withOpenCircuit, claiming, invoke, call, breaker } = await setup();
  const phone = claiming('phone');
  const first = await withOpenCircuit();
  expect(breaker.openCircuitsOf(phone.instanceId)).toMatchObject([{ tool: 'camera', failures: 3 }]);
  const asked = phone.requests().length;
  const second = await invoke('camera');
  expect(phone.requests()).toHaveLength(asked);
  expect((await call(second.id)).phase).toBe('queued');
  expect((await call(first.id)).phase).toBe('offered');
});

test('[BR4] [BR6] another of the pool is asked in its place, a hidden one too', async () => {
  const { withOpenCircuit, claiming, invoke, table, registry, breaker } = await setup();
  const phone = claiming('phone');
  const first = await withOpenCircuit();
  const asked = phone.requests().length;
  const tablet = claiming('tablet');
  table.update(tablet.instanceId, { visible: false });
  const second = await invoke('camera');
  expect(tablet.requests().map(({ id }) => id)).toContain(second.id);
  expect(phone.requests()).toHaveLength(asked);
  expect(first.id).not.toBe(second.id);
  const listed = registry.list(operator).find(({ name }) => name === 'camera');
  expect(listed?.clients.map(({ client_id, tripped }) => [client_id, tripped?.failures])).toEqual([
    ['tablet', undefined],
    ['phone', 3],
  ]);
  const { until } = breaker.openCircuitOf(phone.instanceId, 'camera') ?? { until: 0 };
  expect(table.listings().map(({ tripped }) => tripped)).toEqual([
    [{ tool: 'camera', until: until / 1_000, failures: 3 }],
    undefined,
  ]);
});

test('[BR4] when it is the only one, the call waits and is tried when the pause ends', async () => {
  const { withOpenCircuit, claiming, invoke, clock, settle, breaker, calls } = await setup();
  const phone = claiming('phone');
  const old = await withOpenCircuit();
  await calls.cancel(old.id, 'enough', 'operator');
  const [one, two] = [await invoke('camera'), await invoke('camera')];
  clock.advance(CLOCKS.queueMs - 1);
  await settle();
  const of = (id: string) => phone.requests().filter((request) => request.id === id).length;
  expect([of(one.id), of(two.id)]).toEqual([0, 0]);
  const last = await invoke('camera');
  clock.advance(1);
  await settle();
  // Two ran out of time in the queue; only the trial goes out.
  expect([of(one.id), of(two.id), of(last.id)]).toEqual([0, 0, 1]);
  await phone.claim(last.id, 1);
  expect(await phone.succeed(last.id, 'ok', 1)).toMatchObject({ disposition: 'accepted' });
  expect(breaker.openCircuitsOf(phone.instanceId)).toEqual([]);
  const next = await invoke('camera');
  expect(of(next.id)).toBe(1);
});

test('[BR5] leaving with granted calls counts once, however many they were', async () => {
  const { claiming, invoke, breaker } = await setup();
  const phone = claiming('phone');
  for (let n = 0; n < 4; n += 1) await phone.claim((await invoke('camera')).id, 1);
  phone.leave();
  expect(breaker.openCircuitsOf(phone.instanceId)).toEqual([]);
});

test('[BR5] [BR6] leaving three times in mid-call trips, and coming back does not reset it', async () => {
  const { claiming, connect, invoke, breaker, back } = await setup();
  let phone = claiming('phone');
  for (let time = 0; time < 3; time += 1) {
    const { id } = await invoke('camera');
    await phone.claim(id, 1);
    phone.leave();
    phone = connect('phone', { claims: true, epoch: 'e1' });
    // Its outcome is lost as well; that is the same failure.
    await back(phone, id);
    expect(breaker.openCircuitsOf(phone.instanceId)).toHaveLength(time < 2 ? 0 : 1);
  }
  expect(breaker.openCircuitOf(phone.instanceId, 'camera')).toMatchObject({ failures: 3 });
});

test('[BR5] an outcome that is lost without its leaving being seen counts', async () => {
  const { claiming, invoke, breaker, back } = await setup();
  const phone = claiming('phone');
  for (let time = 0; time < 3; time += 1) {
    const { id } = await invoke('camera');
    await phone.claim(id, 1);
    await back(phone, id);
  }
  expect(breaker.openCircuitsOf(phone.instanceId)).toHaveLength(1);
});

test('[BR5] errors of the tool and timeouts of a client that answers do not count', async () => {
  const { claiming, invoke, clock, settle, breaker } = await setup();
  const phone = claiming('phone');
  for (let time = 0; time < 4; time += 1) {
    const slow = await invoke('camera', {}, { timeoutMs: 200 });
    await phone.claim(slow.id, 1);
    clock.advance(200);
    await settle();
  }
  for (let time = 0; time < 4; time += 1) {
    const { id } = await invoke('camera');
    await phone.claim(id, 1);
    await phone.fail(id, 'No lens');
  }
  expect(breaker.openCircuitsOf(phone.instanceId)).toEqual([]);
});

test('[BR5] timeouts of a client that does not answer count', async () => {
  const { claiming, invoke, clock, settle, breaker, table } = await setup();
  const phone = claiming('phone');
  const ids: string[] = [];
  for (let n = 0; n < 3; n += 1) ids.push((await invoke('camera', {}, { timeoutMs: 200 })).id);
  for (const id of ids) await phone.claim(id, 1);
  table.update(phone.instanceId, { responsive: false });
  clock.advance(200);
  await settle();
  expect(breaker.openCircuitsOf(phone.instanceId)).toHaveLength(1);
});

test('[BR7] a silent client is offered nothing: the call waits until it answers', async () => {
  const { claiming, invoke, call, table, calls, settle } = await setup();
  const phone = claiming('phone');
  table.update(phone.instanceId, { responsive: false });
  const { id } = await invoke('camera');
  expect(phone.requests()).toEqual([]);
  expect((await call(id)).phase).toBe('queued');
  table.update(phone.instanceId, { responsive: true });
  calls.instances.toolsChanged(phone.instanceId);
  await settle();
  expect(phone.requests()).toMatchObject([{ id, attempt: 1 }]);
});

test('[BR7] an offer to one that fell silent goes to another, a hidden one when no other can', async () => {
  const { claiming, invoke, table, clock, settle } = await setup();
  const tablet = claiming('tablet');
  table.update(tablet.instanceId, { visible: false });
  clock.advance(1);
  const phone = claiming('phone');
  const { id } = await invoke('camera');
  expect(phone.requests()).toHaveLength(1);
  table.update(phone.instanceId, { responsive: false });
  clock.advance(CLOCKS.startMs);
  await settle();
  expect(tablet.requests()).toMatchObject([{ id, attempt: 2 }]);
  expect(phone.requests()).toHaveLength(1);
});

test('[BR7] a hidden tab is not asked because the visible one is busy', async () => {
  const { claiming, invoke, table, clock, settle } = await setup();
  const tablet = claiming('tablet');
  table.update(tablet.instanceId, { visible: false });
  const phone = claiming('phone');
  await phone.claim((await invoke('camera', {}, { timeoutMs: 60_000 })).id, 1);
  await invoke('camera');
  clock.advance(CLOCKS.startMs * 2);
  await settle();
  expect(phone.requests()).toHaveLength(2);
  expect(tablet.requests()).toEqual([]);
});

test('[CA15] clients that a stopping server lets go change nothing of its record', async () => {
  const { claiming, invoke, calls, store, settle, errors } = await setup();
  const phone = claiming('phone');
  const [granted, offered] = [await invoke('camera'), await invoke('camera')];
  await phone.claim(granted.id, 1);
  await settle();
  const before = await Promise.all([granted, offered].map(({ id }) => store.getCall(id)));
  calls.stop();
  phone.leave();
  await settle();
  expect(await Promise.all([granted, offered].map(({ id }) => store.getCall(id)))).toEqual(before);
  expect(errors).toEqual([]);
});
