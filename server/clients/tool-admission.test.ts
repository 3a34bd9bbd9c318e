import { expect, test } from 'vitest';
import { FIRST_OPERATOR } from '../auth/principal.ts';
import { throwingLogger as logger } from '../testing/error-log.ts';
import { BY, echo, setupDevices } from './testing/setup-devices.ts';
import { type DecidedTools, ToolAdmission } from './tool-admission.ts';

const refused = (promise: Promise<unknown>) =>
  promise.then(
    () => 'done',
    (error: { code?: string }) => error.code,
  );

/** A device that was let in with `echo`, and one connection of it. */
async function setup() {
  const made = await setupDevices();
  const { deviceId } = await made.pair([echo()]);
  const { registry, list, devices } = made;
  const changes: [string, readonly string[]][] = [];
  const instances = {
    toolsChanged: (id: string, withdrawn: readonly string[] = []) =>
      void changes.push([id, withdrawn]),
  };
  const admission = new ToolAdmission({ registry, devices: list, instances, logger });
  const decided: DecidedTools[] = [];
  admission.onDecided((one) => void decided.push(one));
  const client = { clientId: list.find(deviceId).clientId, instanceId: 'in_1' };
  return {
    ...{ ...made, deviceId, admission, client, changes, decided },
    offer: async (...tools: object[]) => admission.register(client, await admission.check(tools)),
    listed: () => registry.list(FIRST_OPERATOR).map((tool) => `${tool.name}: ${tool.description}`),
    device: () => devices.get(deviceId),
    decide: (decision: { allow?: string[]; deny?: string[] }) =>
      devices.decideTools(deviceId, { allow: [], deny: [], ...decision }, BY),
  };
}

const codes = ({ rejected }: { rejected: readonly { name: string; code: string }[] }) =>
  rejected.map(({ name, code }) => `${name} ${code}`);

test('[DV30] what was allowed is registered to the letter, anything else waits', async () => {
  const { offer, listed, device, acts } = await setup();
  expect(await offer(echo())).toEqual({ registered: 1, rejected: [] });
  const more = await offer(echo({ name: 'camera' }));
  expect([more.registered, codes(more)]).toEqual([0, ['camera waiting_for_approval']]);
  expect(listed()).toEqual(['echo: Says it again']);
  expect(device().waiting).toMatchObject([{ tool: { name: 'camera' }, before: null }]);
  expect((await acts()).some(({ act }) => act === 'device_tools_decided')).toBe(false);
});

test.each([
  ['description', { description: 'Sends it away' }],
  ['schema', { parameters: { type: 'object', properties: { to: { type: 'string' } } } }],
  ['hints', { annotations: { readOnlyHint: true } }],
  ['shown name', { display_name: 'Harmless' }],
  ['time limit', { timeout_ms: 600_000 }],
])(
  '[DV30] [DV31] a tool with another %s waits, out of the lists, until it is allowed',
  async (_, change) => {
    const { offer, listed, device, decide } = await setup();
    await offer(echo());
    expect(codes(await offer(echo(change)))).toEqual(['echo waiting_for_approval']);
    expect(listed()).toEqual([]);
    await decide({ allow: [device().waiting[0]?.tool.hash ?? ''] });
    expect(device()).toMatchObject({ tools: [change], waiting: [] });
    // The form of before is not allowed any more.
    expect(codes(await offer(echo()))).toEqual(['echo waiting_for_approval']);
  },
);

test('[DV33] what was denied is not asked about again, and can be allowed later', async () => {
  const { offer, listed, device, decide } = await setup();
  await offer(echo({ name: 'camera' }));
  const hash = device().waiting[0]?.tool.hash ?? '';
  await decide({ deny: [hash] });
  expect(device()).toMatchObject({ waiting: [], denied: [{ name: 'camera' }] });
  expect(codes(await offer(echo({ name: 'camera' })))).toEqual(['camera not_allowed']);
  expect(device().waiting).toEqual([]);
  await decide({ allow: [hash] });
  expect([listed(), device().denied]).toEqual([['camera: Says it again'], []]);
  await decide({ deny: [hash] });
  expect([listed(), device().tools.map(({ name }) => name)]).toEqual([[], ['echo']]);
});

test('[DV36] each connection is sent what a decision changed for its tools, and nothing else', async () => {
  const { offer, device, decide, decided, admission, client } = await setup();
  await offer(echo(), echo({ name: 'camera' }), echo({ name: 'torch' }));
  const other = { ...client, instanceId: 'in_2' };
  admission.register(other, await admission.check([echo({ name: 'torch' })]));
  expect(decided).toEqual([]);
  const [camera = '', torch = ''] = device().waiting.map(({ tool }) => tool.hash);
  const refused = (name: string) => [expect.objectContaining({ name, code: 'not_allowed' })];
  await decide({ allow: [camera], deny: [torch] });
  expect(decided.splice(0)).toEqual([
    {
      instanceId: 'in_1',
      decided: ['camera', 'torch'],
      registered: 1,
      rejected: refused('torch'),
    },
    { instanceId: 'in_2', decided: ['torch'], registered: 0, rejected: refused('torch') },
  ]);
  await decide({ deny: [camera] });
  expect(decided.splice(0)).toEqual([
    { instanceId: 'in_1', decided: ['camera'], registered: 0, rejected: refused('camera') },
  ]);
  // What the connection itself changes is replied to, and is no decision.
  await offer(echo({ description: 'Other' }));
  expect(decided).toEqual([]);
});

test('[DV36] the form in use is taken back where a person allows the one that another connection offers', async () => {
  const { offer, device, decide, decided, listed, admission, client } = await setup();
  await offer(echo());
  const other = { ...client, instanceId: 'in_2' };
  admission.register(other, await admission.check([echo({ description: 'Other' })]));
  await decide({ allow: [device().waiting[0]?.tool.hash ?? ''] });
  expect(listed()).toEqual(['echo: Other']);
  expect(decided.map(({ instanceId, registered }) => [instanceId, registered])).toEqual([
    ['in_1', 0],
    ['in_2', 1],
  ]);
});

test('[DV37] of a name that comes twice in a message the last form counts', async () => {
  const { offer, listed } = await setup();
  const other = echo({ description: 'Other' });
  const twice = await offer(echo(), other);
  expect([twice.registered, codes(twice), listed()]).toEqual([
    0,
    ['echo waiting_for_approval', 'echo waiting_for_approval'],
    [],
  ]);
  await offer(other, echo());
  expect(listed()).toEqual(['echo: Says it again']);
});

test('[DV34] so many wait at most, and of one name the newest form', async () => {
  const { offer, device } = await setup();
  await offer(...Array.from({ length: 128 }, (_, n) => echo({ name: `tool_${n}` })));
  expect(codes(await offer(echo({ name: 'one.more' })))).toEqual(['one.more too_many_tools']);
  await offer(echo({ name: 'tool_5', description: 'Other' }));
  expect(device().waiting).toHaveLength(128);
  expect(device().waiting.filter(({ tool }) => tool.name === 'tool_5')).toMatchObject([
    { tool: { description: 'Other' } },
  ]);
});

test('[DV35] a decision by a hash that was replaced meanwhile changes nothing', async () => {
  const { offer, device, decide } = await setup();
  await offer(echo({ name: 'camera' }), echo({ name: 'torch' }));
  const [camera = '', torch = ''] = device().waiting.map(({ tool }) => tool.hash);
  await offer(echo({ name: 'camera', description: 'Sends it away' }));
  expect(await refused(decide({ allow: [camera, torch] }))).toBe('conflict');
  expect(await refused(decide({ allow: [torch], deny: [torch] }))).toBe('conflict');
  expect(
    device()
      .waiting.map(({ tool }) => tool.name)
      .sort(),
  ).toEqual(['camera', 'torch']);
});

test('[DV40] a device, its tools and what waits survive a restart, and its token still opens', async () => {
  const { offer, restart, deviceId, device, list } = await setup();
  await offer(echo({ name: 'camera' }));
  const before = device();
  list.seen(before.client_id);
  const { devices, tokens } = await restart();
  const after = devices.get(deviceId);
  expect(after).toEqual({ ...before, last_seen_at: expect.any(Number) });
  expect(tokens.list({ limit: 1 })[0]).toMatchObject({ kind: 'device', clientId: after.client_id });
});

test('[DV40] one whose socket closes behind the store was seen until the stop, which is no error', async () => {
  const { restart, device, list, clock } = await setup();
  const { client_id: clientId } = device();
  await restart();
  clock.advance(60_000);
  // The logger of this test throws what is an error: the store is closed by now.
  list.seen(clientId);
});

test('[DV40] when it was there last is written once a minute', async () => {
  const { list, clock, device } = await setup();
  const seen = () => device().last_seen_at;
  list.seen(device().client_id);
  const first = seen();
  clock.advance(59_999);
  list.seen(device().client_id);
  expect(seen()).toBe(first);
  clock.advance(1);
  list.seen(device().client_id);
  expect(seen()).toBe((first ?? 0) + 60);
});

test('[DV41] T25: a device that is revoked offers nothing any more, also after a restart', async () => {
  const { offer, listed, devices, deviceId, admission, list, restart, tokens } = await setup();
  list.onRevoked(({ clientId }) => admission.dropClient(clientId));
  await offer(echo());
  const [token] = tokens.list({ limit: 1 });
  await devices.revoke(deviceId, BY);
  expect(listed()).toEqual([]);
  expect(codes(await offer(echo()))).toEqual(['echo not_allowed']);
  expect(tokens.callerOf(token?.id ?? '')).toBeUndefined();
  expect(await refused(devices.revoke(deviceId, BY))).toBe('conflict');
  expect(await refused(devices.rename(deviceId, 'x', BY))).toBe('conflict');
  const again = await restart();
  expect(again.devices.get(deviceId).revoked_at).not.toBeNull();
});

test('[DV41] a token that is revoked as a token revokes its device', async () => {
  const { device, tokens, deviceId, devices } = await setup();
  const [token] = tokens.list({ limit: 1 });
  expect(device().revoked_at).toBeNull();
  await tokens.revoke(token?.id ?? '');
  expect(devices.get(deviceId).revoked_at).not.toBeNull();
});

test('[DV42] changes of one moment are one event, with what waits for a person', async () => {
  const { offer, events, clock, ask } = await setup();
  clock.advance(50);
  events.length = 0;
  await offer(echo({ name: 'camera' }), echo({ name: 'torch' }));
  await ask();
  clock.advance(50);
  expect(events).toEqual([{ type: 'devices', asking: 1, waiting: 1 }]);
});
