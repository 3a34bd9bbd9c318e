import { expect, test } from 'vitest';
import { PAIRING_ALPHABET, readPairingCode } from '#lib/protocol/device';
import { hashSecret } from '../auth/secrets.ts';
import { throwingLogger as logger } from '../testing/error-log.ts';
import { newPairingCode } from './open-devices.ts';
import { Pairings } from './pairings.ts';
import { BY, deviceToken, echo, never, PHONE, setupDevices } from './testing/setup-devices.ts';

const TEN_MINUTES = 10 * 60_000;
const codeOf = (error: { code?: string }) => error.code;
const refused = (promise: Promise<unknown>) => promise.then(() => 'done', codeOf);

const ask = (code: string, token = deviceToken()) => ({
  ...{ code, token_hash: hashSecret(token), name: 'Pixel 8', kind: 'phone' as const },
  tools: [echo()],
});

test('[DV1] T29: codes are of the alphabet alone, and do not repeat or favour a sign', () => {
  // So many that a sign which a remainder favours by a tenth shows.
  const codes = Array.from({ length: 6_000 }, newPairingCode);
  expect(new Set(codes).size).toBe(codes.length);
  expect(codes.every((code) => readPairingCode(code) === code)).toBe(true);
  const counts = [...PAIRING_ALPHABET].map((sign) => codes.join('').split(sign).length - 1);
  const expected = (codes.length * 8) / PAIRING_ALPHABET.length;
  const chi2 = counts.reduce((sum, n) => sum + (n - expected) ** 2 / expected, 0);
  // 30 degrees of freedom: one of ten million fair draws is above.
  expect(chi2).toBeLessThan(90);
});

test('[DV1] [DV2] a code shows whose workbench it is, is used once, and read as people type it', async () => {
  const { pairing } = await setupDevices();
  const { code, state } = await pairing.open(BY, 'http://127.0.0.1:4173');
  expect(state).toBe('open');
  const typed = ` ${code.slice(0, 4).toLowerCase()}-${code.slice(4)} `;
  expect(await pairing.look(typed, '10.0.0.1')).toMatchObject({ workbench: { name: 'desk' } });
  await pairing.join(ask(typed), PHONE);
  expect(await refused(pairing.look(code, '10.0.0.1'))).toBe('not_found');
  expect(await refused(pairing.join(ask(code), PHONE))).toBe('not_found');
});

test('[DV2] a code dies after ten minutes, and so does a question that is not answered', async () => {
  const { pairing, clock, ask: asked } = await setupDevices();
  const { code } = await pairing.open(BY, undefined);
  clock.advance(TEN_MINUTES - 1);
  await pairing.look(code, '10.0.0.1');
  clock.advance(1);
  expect(await refused(pairing.look(code, '10.0.0.1'))).toBe('not_found');
  const { id, token } = await asked();
  clock.advance(TEN_MINUTES);
  expect(pairing.list()[0]).toMatchObject({ pairing_id: id, state: 'expired' });
  expect(await pairing.outcome(token, 0, '', never)).toMatchObject({ state: 'expired' });
  expect(await refused(pairing.decide(id, { decision: 'approve' }, BY))).toBe('already_final');
});

test('[DV2] a code ends also where its timer comes before its time, as when the clock was set back', () => {
  const timers: (() => void)[] = [];
  let now = 0;
  const schedule = (_ms: number, fire: () => void) => {
    timers.push(fire);
    return () => {};
  };
  const clock = { now: () => now, schedule };
  const pairings = new Pairings({ clock, logger, newId: () => 'pair_1', newCode: newPairingCode });
  pairings.open('operator');
  const states: string[] = [];
  pairings.onChange(({ state }) => void states.push(state));
  for (const at of [TEN_MINUTES - 1, TEN_MINUTES]) {
    now = at;
    timers.at(-1)?.();
  }
  expect(states).toEqual(['expired']);
});

test('[DV3] one person has eight open codes at most, another has room beside them, and what is over is forgotten', async () => {
  const { pairing, clock } = await setupDevices();
  for (let n = 0; n < 8; n += 1) await pairing.open(BY, undefined);
  expect(await refused(pairing.open(BY, undefined))).toBe('conflict');
  const other = { ...BY, caller: { ...BY.caller, name: 'ada', tokenId: 'tok_ada' } };
  expect(await refused(pairing.open(other, undefined))).toBe('done');
  const [, first] = pairing.list();
  await pairing.withdraw(first?.pairing_id ?? '', BY);
  await pairing.open(BY, undefined);
  clock.advance(TEN_MINUTES);
  expect(pairing.list().filter(({ state }) => state === 'open')).toEqual([]);
  clock.advance(TEN_MINUTES);
  expect(pairing.list()).toEqual([]);
});

test('[DV3] sixteen devices ask at most', async () => {
  const { pairing, ask: asked } = await setupDevices();
  for (let n = 0; n < 16; n += 1) await asked();
  expect(await refused(asked())).toBe('rate_limited');
  // The code is still good once there is room.
  const [open, last] = pairing.list();
  await pairing.withdraw(last?.pairing_id ?? '', BY);
  expect(open?.state).toBe('open');
});

test('[DV4] T21: of 1,000 random codes five are looked up, then every open code is void', async () => {
  const { pairing, acts } = await setupDevices();
  const [one, two] = [await pairing.open(BY, undefined), await pairing.open(BY, undefined)];
  for (let n = 0; n < 4; n += 1) await refused(pairing.look('22222222', `10.0.0.${n}`));
  expect(pairing.list().map(({ state }) => state)).toEqual(['open', 'open']);
  const rest = Array.from({ length: 996 }, (_, n) => pairing.look(newPairingCode(), `10.1.0.${n}`));
  expect(new Set(await Promise.all(rest.map(refused)))).toEqual(new Set(['not_found']));
  expect(pairing.list().map(({ state }) => state)).toEqual(['burned', 'burned']);
  for (const { code } of [one, two]) {
    expect(await refused(pairing.join(ask(code), PHONE))).toBe('not_found');
  }
  const brute = (await acts()).filter(({ act }) => act === 'pairing_bruteforce');
  expect(brute).toEqual([
    expect.objectContaining({
      actor: 'anonymous',
      address: '10.1.0.0',
      detail: expect.objectContaining({ burned: 2 }),
    }),
  ]);
});

test('[DV4] a code that was used, and what is no code, are no tries', async () => {
  const { pairing, ask: asked } = await setupDevices();
  const { code } = await asked();
  const open = await pairing.open(BY, undefined);
  for (let n = 0; n < 10; n += 1) {
    await refused(pairing.look(code, `10.0.0.${n}`));
    await refused(pairing.look('hello', `10.0.0.${n}`));
  }
  expect(await pairing.look(open.code, '10.0.0.1')).toBeDefined();
});

test('[DV5] the answer to a used, expired, void or wrong code is the same, and is held back by address', async () => {
  const { pairing, ask: asked, clock } = await setupDevices();
  const answer = (code: string, address: string) =>
    pairing.look(code, address).then(
      () => 'right',
      ({ code: refusal, message }) => `${refusal} ${message}`,
    );
  const expired = await pairing.open(BY, undefined);
  clock.advance(TEN_MINUTES);
  const used = await asked();
  const withdrawn = await pairing.open(BY, undefined);
  await pairing.withdraw(withdrawn.pairing_id, BY);
  const codes = [expired.code, used.code, withdrawn.code, '22222222', 'hello'];
  const answers = await Promise.all(codes.map((code) => answer(code, '10.0.0.1')));
  expect(new Set(answers).size).toBe(1);
  const many = await Promise.all(Array.from({ length: 20 }, () => answer('33333333', '10.0.0.1')));
  expect(many.at(-1)).toContain('rate_limited');
});

test('[DV6] the same request again gets the same answer, and the hash of another device none', async () => {
  const { pairing, pair } = await setupDevices();
  const { code } = await pairing.open(BY, undefined);
  const body = { ...ask(code), tools: [echo(), { name: 'no tool' }] };
  const first = await pairing.join(body, PHONE);
  expect(first.rejected).toHaveLength(1);
  expect(await pairing.join(body, PHONE)).toEqual(first);
  const { token } = await pair();
  const next = await pairing.open(BY, undefined);
  expect(await refused(pairing.join(ask(next.code, token), PHONE))).toBe('conflict');
});

test('[DV7] T20: before a person approves there is no token, no device and no tool, from loopback either', async () => {
  const { ask: asked, tokens, devices, registry, pairing } = await setupDevices();
  const { id, token } = await asked([echo()], { ...PHONE, address: '127.0.0.1' });
  expect(tokens.find(token)).toBeUndefined();
  expect(devices.list({ limit: 10 }).devices).toEqual([]);
  expect(registry.list(BY.caller)).toEqual([]);
  const [asking] = pairing.list();
  expect(asking).toMatchObject({ pairing_id: id, state: 'asking' });
  expect(asking?.request).toMatchObject({
    ...{ name: 'Pixel 8', browser: 'Chrome on Android', address: '127.0.0.1', origin: null },
    tools: [{ name: 'echo', description: 'Says it again' }],
  });
  await pairing.decide(id, { decision: 'approve' }, BY);
  expect(tokens.find(token)).toMatchObject({ kind: 'device' });
});

test('[DV7] the token counts once it is on disk with its device, and not before', async () => {
  const { ask: asked, tokens, list, pairing } = await setupDevices();
  const { id, token } = await asked();
  const decided = pairing.decide(id, { decision: 'approve' }, BY);
  expect(tokens.find(token)).toBeUndefined();
  await decided;
  const caller = tokens.find(token);
  expect(caller?.kind === 'device' && list.ofClient(caller.clientId)).toMatchObject({
    kind: 'phone',
  });
});

test('[DV8] the outcome is found again after a restart, and by the right token alone', async () => {
  const { pair, ask: asked, pairing, restart } = await setupDevices();
  const { token, deviceId } = await pair();
  const waits = await asked();
  const denied = await asked();
  await pairing.decide(denied.id, { decision: 'deny' }, BY);
  expect(await pairing.outcome(denied.token, 0, '', never)).toMatchObject({ state: 'denied' });
  const { pairing: after, devices } = await restart();
  expect(await after.outcome(token, 0, '', never)).toMatchObject({
    ...{ state: 'approved', device: { device_id: deviceId, name: 'Pixel 8' } },
  });
  expect(await after.outcome(waits.token, 0, '', never)).toMatchObject({ state: 'unknown' });
  expect(await after.outcome(deviceToken(), 0, '', never)).toMatchObject({ state: 'unknown' });
  expect(devices.get(deviceId).tools.map(({ name }) => name)).toEqual(['echo']);
});

test('[DV8] a request for the outcome is held until it is decided, two of one token at a time', async () => {
  const { ask: asked, pairing, closing } = await setupDevices();
  const { id, token } = await asked();
  const held = [1, 2].map(() => pairing.outcome(token, 25_000, '', never));
  expect(await refused(pairing.outcome(token, 25_000, '', never))).toBe('rate_limited');
  await pairing.decide(id, { decision: 'approve' }, BY);
  for (const outcome of held) expect(await outcome).toMatchObject({ state: 'approved' });
  const next = await asked();
  const left = new AbortController();
  const first = pairing.outcome(next.token, 25_000, '', left.signal);
  left.abort();
  expect(await first).toMatchObject({ state: 'waiting' });
  const second = pairing.outcome(next.token, 25_000, '', never);
  closing.abort();
  expect(await second).toMatchObject({ state: 'waiting' });
});

test('[DV9] T23: an empty choice is no tool, and what was not asked for cannot be allowed', async () => {
  const { ask: asked, pairing, devices } = await setupDevices();
  const none = await asked();
  const { device_id } = await pairing.decide(none.id, { decision: 'approve', tools: [] }, BY);
  const device = devices.get(device_id ?? '');
  expect([device.tools, device.denied.map(({ name }) => name)]).toEqual([[], ['echo']]);
  const more = await asked();
  const widened = pairing.decide(more.id, { decision: 'approve', tools: ['echo', 'camera'] }, BY);
  expect(await refused(widened)).toBe('bad_request');
  expect(pairing.list()[0]?.state).toBe('asking');
  const named = await pairing.decide(more.id, { decision: 'approve', name: 'Kitchen' }, BY);
  expect(devices.get(named.device_id ?? '').name).toBe('Kitchen');
});

test('[DV10] a pairing is decided once, by the first of two people', async () => {
  const { ask: asked, pairing, devices } = await setupDevices();
  const { id } = await asked();
  const both = await Promise.all([
    refused(pairing.decide(id, { decision: 'approve' }, BY)),
    refused(pairing.decide(id, { decision: 'deny' }, BY)),
  ]);
  expect(both).toEqual(['done', 'already_final']);
  expect(await refused(pairing.withdraw(id, BY))).toBe('already_final');
  expect(devices.list({ limit: 10 }).devices).toHaveLength(1);
});

test('[DV11] T36: each act is written down with who and from where, without code, token or hash', async () => {
  const { ask: asked, pair, pairing, devices, acts } = await setupDevices();
  const denied = await asked();
  await pairing.decide(denied.id, { decision: 'deny' }, BY);
  const paired = await pair();
  await devices.rename(paired.deviceId, 'Kitchen', BY);
  await devices.revoke(paired.deviceId, BY);
  const entries = await acts();
  expect(entries.map(({ act, actor, address }) => `${act} ${actor} ${address}`)).toEqual([
    'pairing_opened operator 127.0.0.1',
    'device_asked anonymous 192.168.1.7',
    'device_denied operator 127.0.0.1',
    'pairing_opened operator 127.0.0.1',
    'device_asked anonymous 192.168.1.7',
    'device_paired operator 127.0.0.1',
    'device_renamed operator 127.0.0.1',
    'device_revoked operator 127.0.0.1',
  ]);
  const text = JSON.stringify(entries);
  for (const { code, token } of [denied, paired]) {
    for (const secret of [code, token, hashSecret(token)]) expect(text).not.toContain(secret);
  }
});

test('[DV12] there is a link for each address, with those of this machine last', async () => {
  const { pairing } = await setupDevices({ addresses: ['https://192.168.1.5:4173'] });
  const { code, links } = await pairing.open(BY, 'http://127.0.0.1:4173');
  expect(links).toEqual([
    `https://192.168.1.5:4173/pair/${code}`,
    `http://127.0.0.1:4173/pair/${code}`,
  ]);
});

test('[DV21] pages of one origin use up nothing of what pages of another may ask, at the same address', async () => {
  const { pairing } = await setupDevices();
  const { code: _, ...knock } = ask('');
  const join = (foreignOrigin: string, address = PHONE.address) =>
    refused(
      pairing.join(
        { ...knock, token_hash: hashSecret(deviceToken()) },
        { ...PHONE, address, foreignOrigin },
      ),
    );
  const asked = [];
  for (let times = 0; times < 6; times += 1) asked.push(await join('https://evil.example'));
  expect(asked).toEqual(['done', ...Array(5).fill('rate_limited')]);
  expect(await join('https://shop.example')).toBe('done');
  // Pages of one address leave room for those of another.
  for (const name of ['a', 'b', 'c', 'd', 'e']) await join(`https://${name}.evil.example`);
  expect(await join('https://tea.example', '192.168.1.9')).toBe('done');
  expect(pairing.list().filter(({ state }) => state === 'asking')).toHaveLength(5);
  // Nor do those of one network, however many addresses it has, and of a second one.
  for (const name of ['f', 'g', 'h'])
    await join(`https://${name}.evil.example`, `2001:db8::${name}`);
  expect(await join('https://rye.example', '192.168.1.10')).toBe('done');
});

test('[DV21] a page that was refused learns how much is left of the ten minutes', async () => {
  const { pairing, clock } = await setupDevices();
  const page = { ...PHONE, foreignOrigin: 'https://shop.example' };
  const { code: _, ...knock } = ask('');
  const { pairing_id } = await pairing.join(knock, page);
  await pairing.decide(pairing_id, { decision: 'deny' }, BY);
  clock.advance(TEN_MINUTES - 20_000);
  const next = { ...knock, token_hash: hashSecret(deviceToken()) };
  await expect(pairing.join(next, page)).rejects.toMatchObject({ retryAfter: 20 });
  clock.advance(20_000);
  await pairing.join(next, page);
});
