import { expect, test } from 'vitest';
import { cli, scriptedServer } from '../testing/setup-cli.ts';

const at = (url: string) => ['--url', url, '--token', 't'];
const tool = (name: string, hash: string) => ({
  ...{ name, hash, description: `Does ${name}`, parameters: { type: 'object' } },
});
const request = {
  ...{ name: 'Pixel 8', kind: 'phone', browser: 'Chrome on Android', address: '192.0.2.7' },
  ...{ origin: null, asked_at: 1 },
  tools: [{ ...tool('camera.photo', 'h1'), annotations: { readOnlyHint: true } }],
};
const pairing = (more: object) => ({
  ...{ pairing_id: 'pair_1', state: 'open', created_at: 1, created_by: 'operator' },
  ...{ expires_at: 2_000_000_000, request: null, device_id: null, decided_by: null },
  decided_at: null,
  ...more,
});
const opened = () => ({
  ...pairing({}),
  code: 'ABCDEFGH',
  links: ['http://192.0.2.1:3000/pair/ABCDEFGH'],
  workbench: { name: 'Board', fingerprint: [1, 2, 3, 4] },
});

async function pairingServer(onOpen?: () => void) {
  const states = [pairing({}), pairing({ state: 'asking', request })];
  return scriptedServer({
    'POST /v1/pairings': opened,
    'GET /v1/pairings': () => {
      onOpen?.();
      return { pairings: [states.length > 1 ? states.shift() : states[0]] };
    },
    'POST /v1/pairings/pair_1/decision': ({ body }) =>
      pairing({
        request,
        ...(JSON.stringify(body).includes('approve')
          ? { state: 'approved', device_id: 'dev_1' }
          : { state: 'denied' }),
      }),
    'DELETE /v1/pairings/pair_1': () => pairing({ state: 'withdrawn' }),
  });
}

test('[CX8] pairing prints a QR code, shows who asks, and lets it in by a yes', async () => {
  const { url, asked } = await pairingServer();
  const { out, code, questions } = await cli(['pair', '--name', 'Anna', ...at(url)], {
    answers: ['y'],
  });
  expect({ code, questions: questions.length }).toEqual({ code: 0, questions: 1 });
  for (const shown of [
    '█',
    'ABCD-EFGH',
    'http://192.0.2.1:3000/pair/ABCDEFGH',
    'Pixel 8 asks to join',
    'Chrome on Android',
    '192.0.2.7',
    'camera.photo',
    'says of itself that it only reads',
    'dev_1',
  ]) {
    expect(out).toContain(shown);
  }
  expect(asked.at(-1)?.body).toEqual({
    decision: 'approve',
    name: 'Anna',
    tools: ['camera.photo'],
  });
});

test.each([['n'], [''], [null]])('[CX8] the answer %j lets it not in', async (answer) => {
  const { url, asked } = await pairingServer();
  const { code, errors } = await cli(['pair', ...at(url)], { answers: [answer] });
  expect({ code, errors }).toEqual({ code: 1, errors: 'The device was denied.\n' });
  expect(asked.at(-1)?.body).toEqual({ decision: 'deny' });
});

test('[CX8] without a terminal it needs --yes, before a code is made', async () => {
  const { url, asked } = await pairingServer();
  expect(await cli(['pair', ...at(url)])).toMatchObject({ code: 2 });
  expect(asked).toEqual([]);
  const { out, code } = await cli(['pair', '--yes', '--json', ...at(url)]);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ state: 'approved', device_id: 'dev_1' });
});

test('[CX8] ended by Ctrl+C it withdraws the code', async () => {
  const interrupted = new AbortController();
  const { url, asked } = await pairingServer(() => interrupted.abort());
  const setup = { answers: ['y'], signal: interrupted.signal };
  expect(await cli(['pair', ...at(url)], setup)).toMatchObject({ code: 130 });
  expect(asked.at(-1)).toMatchObject({ method: 'DELETE', path: '/v1/pairings/pair_1' });
});

test('[CX2] a code for a screen is one document with --json', async () => {
  const { url } = await pairingServer();
  const { out } = await cli(['qr', '--json', ...at(url)]);
  expect(JSON.parse(out)).toMatchObject({ code: 'ABCDEFGH', pairing_id: 'pair_1' });
});

const device = (more: object = {}) => ({
  ...{ device_id: 'dev_1', client_id: 'client_1', name: 'Pixel 8', kind: 'phone' },
  ...{ browser: 'Chrome on Android', origin: null, paired_at: 1, paired_by: 'operator' },
  ...{ last_seen_at: null, revoked_at: null, tools: [tool('vibrate', 'h0')], denied: [] },
  waiting: [
    { tool: tool('camera.photo', 'h1'), before: null, asked_at: 1 },
    {
      tool: { ...tool('share.send', 'h2'), display_name: 'Send it' },
      before: { ...tool('share.send', 'h3'), description: 'Old' },
      asked_at: 1,
    },
  ],
  ...more,
});

const deviceServer = () =>
  scriptedServer({
    'GET /v1/devices': () => ({ devices: [device()], next_cursor: null }),
    'POST /v1/devices/dev_1/tools': () => device({ waiting: [] }),
    'PUT /v1/devices/dev_1': () => device({ name: 'Anna' }),
    'DELETE /v1/devices/dev_1': () => device({ revoked_at: 5 }),
  });

test('[CX9] tools that wait are shown with what changed, and allowed by their hashes', async () => {
  const { url, asked } = await deviceServer();
  const shown = await cli(['devices', 'show', 'Pixel 8', ...at(url)]);
  expect(shown.out).toContain('description was "Old"');
  expect(shown.out).toMatch(/display_name was not given\n.*display_name is {2}"Send it"/);
  await cli(['devices', 'allow', 'dev_1', 'share.send', ...at(url)]);
  expect(asked.at(-1)?.body).toEqual({ allow: ['h2'] });
  await cli(['devices', 'deny', 'dev_1', '--all', ...at(url)]);
  expect(asked.at(-1)?.body).toEqual({ deny: ['h1', 'h2'] });
  const before = asked.length;
  const bare = await cli(['devices', 'allow', 'dev_1', ...at(url)]);
  expect(bare).toMatchObject({ code: 2, errors: expect.stringContaining('or --all') });
  const other = await cli(['devices', 'allow', 'dev_1', 'vibrate', ...at(url)]);
  expect(other).toMatchObject({ code: 5, errors: expect.stringContaining('does not wait') });
  expect(asked.slice(before).every(({ method }) => method === 'GET')).toBe(true);
});

test('[CX1] devices are listed, renamed and revoked; one that is not there is not found', async () => {
  const { url, asked } = await deviceServer();
  expect((await cli(['devices', ...at(url)])).out).toMatch(/dev_1 +Pixel 8 +phone/);
  await cli(['devices', 'rename', 'dev_1', 'Anna', ...at(url)]);
  expect(asked.at(-1)).toMatchObject({ method: 'PUT', body: { name: 'Anna' } });
  expect((await cli(['devices', 'revoke', 'dev_1', ...at(url)])).out).toContain('Revoked');
  expect(await cli(['devices', 'revoke', 'dev_2', ...at(url)])).toMatchObject({ code: 5 });
  expect(await cli(['devices', 'sell', 'dev_1', ...at(url)])).toMatchObject({ code: 2 });
});
