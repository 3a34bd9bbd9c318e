import { expect, test } from 'vitest';
import type { Reach, ReachAddress } from '#lib/protocol/reach';
import { bannerJson, formatBanner, ownAddress } from './banner.ts';

const address = (origin: string, more: Partial<ReachAddress> = {}): ReachAddress => ({
  ...{ origin, scheme: 'http', from: 'this_machine', needs_trust: false, lacks: [], ...more },
});
const reach: Reach = {
  ...{ tls: 'none', open: false, plaintext: false, ca: null },
  addresses: [address('http://127.0.0.1:3000')],
};

const facts = {
  reach,
  url: 'http://127.0.0.1:3000',
  signInUrl: 'http://127.0.0.1:3000/sign-in/x',
  dataDir: '/data',
  token: '/data/token',
  history: '12 calls, 1.0 MiB (database 1.0 MiB, blobs 0 B); kept for ever',
  isModelSet: false,
};
const using = (defaultModel: string, message?: string) => ({
  models: { defaultModel, trouble: message === undefined ? undefined : { message } },
});

test('a start prints where to go, what is used and how to stop, and that the rehearsal is used', () => {
  const text = formatBanner({ ...facts, ...using('rehearsal') });
  const words = ['/sign-in/x', '/data', '12 calls, 1.0 MiB', 'not an LLM', 'Ctrl+C'];
  for (const word of words) expect(text).toContain(word);
  expect(formatBanner({ ...facts, ...using('openai:gpt-5') })).not.toContain('not an LLM');
});

test('[AL69] a start prints what is set and that it did not answer, and does not ask to set it', () => {
  const trouble = 'The model server http://127.0.0.1:11434/v1 (OPENAI_BASE_URL) did not answer: x.';
  const none = formatBanner({ ...facts, ...using('compatible', trouble) });
  expect(none).toContain(`none yet. ${trouble}`);
  expect(none).not.toMatch(/set OPENAI|rehearsal/);
  const named = formatBanner({
    ...facts,
    ...using('compatible:qwen3:8b', trouble),
    isModelSet: true,
  });
  expect(named).toContain(`compatible:qwen3:8b. ${trouble}`);
  const chosen = formatBanner({ ...facts, ...using('rehearsal', trouble), isModelSet: true });
  expect(chosen).toContain('CALLBOARD_MODEL names it');
});

test('[LN41] for programs it is one line of JSON', () => {
  const phone = address('https://192.168.1.5:3000', { from: 'network' });
  const text = bannerJson({
    ...{ ...facts, ...using('rehearsal') },
    reach: { ...reach, addresses: [phone, ...reach.addresses] },
  });
  expect(text.endsWith('\n')).toBe(true);
  expect(JSON.parse(text)).toEqual({
    url: 'http://127.0.0.1:3000',
    sign_in_url: 'http://127.0.0.1:3000/sign-in/x',
    data_dir: '/data',
    model: 'rehearsal',
    phones: ['https://192.168.1.5:3000'],
    ca_sha256: null,
  });
});

test('the address it prints is that of this machine, else the first', () => {
  const phone = address('https://192.168.1.5:3000', { from: 'network' });
  expect(ownAddress({ ...reach, addresses: [phone, ...reach.addresses] })).toBe(
    'http://127.0.0.1:3000',
  );
  expect(ownAddress({ ...reach, addresses: [phone] })).toBe('https://192.168.1.5:3000');
});

test('[LN30] with --lan it prints the links for phones, the trust page and the fingerprint', () => {
  const origins = ['192.168.1.5', '10.0.0.5', 'desk.local', 'desk', 'fifth'];
  const addresses = origins.map((host) => address(`https://${host}:3000`, { from: 'network' }));
  const ca = { fingerprint: 'AB:CD', name: 'Callboard CA', expires_at: 1, page: '/trust' };
  const text = formatBanner({ ...facts, reach: { ...reach, addresses, ca }, ...using('x') });
  expect(text).toContain('For phones:      https://192.168.1.5:3000\n');
  expect(text).toContain('https://192.168.1.5:3000/trust\n');
  expect(text).toContain('AB:CD');
  expect(text).not.toContain('fifth');
  expect(text).not.toContain('WARNING');
});

test('[LN31] T32: without TLS on a network it warns of what everyone there can read', () => {
  const text = formatBanner({ ...facts, reach: { ...reach, plaintext: true }, ...using('x') });
  expect(text).toMatch(/WARNING: +no TLS: everyone on the network can read/);
});
