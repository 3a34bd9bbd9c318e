import { expect, test } from 'vitest';
import { deviceSchema, pairingSchema } from '#lib/protocol/device';
import { FIRST_OPERATOR } from '../auth/principal.ts';
import { throwingLogger as logger } from '../testing/error-log.ts';
import { BY, deviceToken, echo, PHONE, setupDevices } from './testing/setup-devices.ts';
import { ToolAdmission } from './tool-admission.ts';

async function setup() {
  const made = await setupDevices();
  const { deviceId } = await made.pair([echo()]);
  const { registry, list } = made;
  const instances = { toolsChanged: () => {} };
  const admission = new ToolAdmission({ registry, devices: list, instances, logger });
  const client = { clientId: list.find(deviceId).clientId, instanceId: 'in_1' };
  return {
    ...{ ...made, deviceId },
    offer: async (...tools: object[]) => admission.register(client, await admission.check(tools)),
    listed: () => registry.list(FIRST_OPERATOR).map((tool) => `${tool.name}: ${tool.description}`),
  };
}

/** Asks under this name; resolves with how people are shown it, or why it was refused. */
async function askAs(name: string) {
  const { pairing } = await setupDevices();
  const { code } = await pairing.open(BY, undefined);
  const token_hash = deviceToken().replace(/.*/, '0'.repeat(64));
  return pairing.join({ code, token_hash, name, kind: 'phone', tools: [] }, PHONE).then(
    () => pairing.list()[0]?.request?.name,
    (error: { code?: string }) => error.code,
  );
}

test.each([
  ['bank\u202egnp.exe', 'bankgnp.exe'],
  ['Pixel\u200b 8\u{e0041}\u{e0042}', 'Pixel 8'],
  ['one\n\ttwo\u001b[31m\u0000', 'one two [31m'],
  ['Küche 📱 👩‍👧', 'Küche 📱 👩‍👧'],
])('[DV50] a device that calls itself %j is shown as %j', async (name, shown) => {
  expect(await askAs(name)).toBe(shown);
});

test.each(['\u200b', '\u3164\u2800', '\u202e\u0007'])(
  '[DV50] a name without a character that shows is refused: %j',
  async (name) => {
    expect(await askAs(name)).toBe('bad_request');
  },
);

test('[DV50] a person gives no other name either', async () => {
  const { devices, deviceId } = await setup();
  expect(await devices.rename(deviceId, 'my\u202e phone', BY)).toMatchObject({ name: 'my phone' });
});

test('[DV51] a device that offers other forms all the time has its record written once a second', async () => {
  const { offer, store, deviceId, clock, list } = await setup();
  let writes = 0;
  const write = store.write.bind(store);
  store.write = (changes, options) => {
    const isOfDevice = (one: (typeof changes)[number]) =>
      one.type === 'put_kept' && one.entry.key === deviceId;
    writes += changes.filter(isOfDevice).length;
    return write(changes, options);
  };
  for (let at = 0; at < 100; at += 1) await offer(echo({ description: `Form ${at}` }));
  expect(list.find(deviceId).waiting).toMatchObject([{ tool: { description: 'Form 99' } }]);
  clock.advance(6_000);
  expect(writes).toBe(1);
});

test('[DV32] of two forms of a tool in one message the last counts, before and after a person allows it', async () => {
  const { offer, listed, devices, deviceId } = await setup();
  await offer(echo(), echo({ description: 'Another' }));
  expect(listed()).toEqual([]);
  const hashes = devices.get(deviceId).waiting.map(({ tool }) => tool.hash);
  await devices.decideTools(deviceId, { allow: hashes, deny: [] }, BY);
  expect(listed()).toEqual(['echo: Another']);
  await offer(echo(), echo({ description: 'Another' }));
  expect(listed()).toEqual(['echo: Another']);
});

test('[DV51] what waits is on disk after a stop, however short before it was offered', async () => {
  const { offer, restart, deviceId } = await setup();
  await offer(echo({ description: 'Form 1' }));
  await offer(echo({ description: 'Form 2' }));
  const { list } = await restart();
  expect(list.find(deviceId).waiting).toMatchObject([{ tool: { description: 'Form 2' } }]);
});

test('[DV52] a form that is too much to keep takes the place of the one before all the same', async () => {
  const { offer, listed, devices, deviceId } = await setup();
  await offer(echo());
  await offer(...Array.from({ length: 128 }, (_, n) => echo({ name: `tool_${n}` })));
  const { rejected } = await offer(echo({ description: 'Sends it away' }));
  expect(rejected).toMatchObject([{ name: 'echo', code: 'too_many_tools' }]);
  // Any change of the device looks at its offers again.
  await devices.rename(deviceId, 'other', BY);
  expect(listed()).toEqual([]);
});

test('[DV54] a tool with the longest title stops neither the lists of people nor the next start', async () => {
  const { ask, pairing, devices, restart } = await setupDevices();
  const titled = echo({ annotations: { title: 't'.repeat(256) } });
  const { id } = await ask([titled]);
  for (const one of pairing.list()) pairingSchema.parse(one);
  const { device_id } = await pairing.decide(id, { decision: 'approve' }, BY);
  deviceSchema.parse(devices.get(device_id ?? ''));
  const after = await restart();
  expect(after.devices.get(device_id ?? '').tools).toMatchObject([{ name: 'echo' }]);
});

test('[DV45] a page of devices ends where their tools are large, and the next one goes on', async () => {
  const { pair, devices, list } = await setupDevices();
  const filler = Array.from({ length: 60 }, (_, n) => [`p${n}`, { description: 'x'.repeat(900) }]);
  const parameters = { type: 'object', properties: Object.fromEntries(filler) };
  const large = Array.from({ length: 4 }, (_, n) => echo({ name: `large_${n}`, parameters }));
  const tools = Array.from({ length: 30 }, (_, n) => ({
    ...{ name: `more_${n}`, description: 'x', parameters, hash: `${n}` },
  }));
  const ids: string[] = [];
  for (let n = 0; n < 4; n += 1) {
    const { deviceId } = await pair(large);
    ids.unshift(deviceId);
    list.offer(list.find(deviceId).clientId, tools);
  }
  const first = devices.list({ limit: 10 });
  expect(first.devices.map((one) => one.device_id)).toEqual(ids.slice(0, 2));
  const second = devices.list({ limit: 10, before: first.next ?? '' });
  expect(second.devices.map((one) => one.device_id)).toEqual(ids.slice(2));
  expect(second.next).toBeNull();
  expect(devices.list({ limit: 1 }).next).toBe(ids[0]);
});
