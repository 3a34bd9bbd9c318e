import { X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import { makeCa } from '../tls/make-certificates.ts';
import { describeCa } from '../tls/reach.ts';
import { startTestServer, TOKENS } from './testing/start-test-server.ts';

/** No peer of a test comes from a network: the server is told that this one does. */
const fromNetwork = { mayBePlain: () => false };

test('[HT200] T32: a peer of the network that sends plain HTTP to a server with TLS is sent to https, and no more', async () => {
  const { get, post, port } = await startTestServer({ ...fromNetwork, hasTls: true });
  for (const token of [TOKENS.operator, 'wrong', null]) {
    const answer = await get('/v1/tools?a=1', { token });
    expect([answer.status, answer.headers.location, answer.text]).toEqual([
      ...[308, `https://127.0.0.1:${port}/v1/tools?a=1`, ''],
    ]);
    expect(answer.headers.connection).toBe('close');
  }
  expect((await post('/auth/sign-in', { token: TOKENS.operator }, { token: null })).status).toBe(
    308,
  );
});

test('[HT200] a host that is not ours gets 400, and no address to go to', async () => {
  const { get, raw, port } = await startTestServer({ ...fromNetwork, hasTls: true });
  const foreign = await get('/', { headers: { host: `rebind.example:${port}` } });
  expect([foreign.status, foreign.headers.location]).toEqual([400, undefined]);
  const own = `Host: 127.0.0.1:${port}\r\n`;
  for (const head of [`GET //evil.example HTTP/1.1\r\n${own}`, `GET / HTTP/1.1\r\n${own}${own}`]) {
    const answer = await raw(`${head}\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).not.toMatch(/location/i);
  }
});

test('[HT201] behind a proxy that is named, other peers get 400, with the right token too, and no socket', async () => {
  const { get, raw, port } = await startTestServer(fromNetwork);
  const answer = await get('/v1/tools');
  expect(answer.json.error).toMatchObject({ code: 'bad_request', message: /TLS/ });
  const head = ['GET /ws/client HTTP/1.1', `Host: 127.0.0.1:${port}`, 'Connection: Upgrade'];
  const ws = [
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  ];
  const token = `Authorization: Bearer ${TOKENS.operator}`;
  expect(await raw([...head, ...ws, token, '', ''].join('\r\n'))).toMatch(/^HTTP\/1\.1 400 /);
});

test('[HT202] T27: who comes from where is read from the connection, and from a trusted proxy’s word alone', async () => {
  const headers = { 'x-forwarded-for': '127.0.0.1, 203.0.113.7', 'x-forwarded-proto': 'https' };
  const signIn = { token: TOKENS.operator };
  const plain = await startTestServer();
  const ignored = await plain.post('/auth/sign-in', signIn, { token: null, headers });
  expect(plain.audited[0]?.address).toBe('127.0.0.1');
  expect(String(ignored.headers['set-cookie'])).not.toContain('Secure');
  const proxied = await startTestServer({ proxy: { trustedProxies: ['127.0.0.1'] } });
  const secure = await proxied.post('/auth/sign-in', signIn, { token: null, headers });
  expect(proxied.audited[0]?.address).toBe('203.0.113.7');
  expect(String(secure.headers['set-cookie'])).toMatch(/^__Host-callboard_session_.*; Secure$/);
});

test('[HT203] T27: an address that a caller invents gets no attempts of its own', async () => {
  const { get } = await startTestServer({ allowedAttempts: 3 });
  const statuses: number[] = [];
  for (let n = 0; n < 5; n += 1) {
    const headers = { 'x-forwarded-for': `203.0.113.${n}`, 'x-real-ip': `203.0.113.${n}` };
    statuses.push((await get('/v1/tools', { token: `wrong-${n}`, headers })).status);
  }
  expect(statuses).toEqual([401, 401, 401, 429, 429]);
});

async function withCa() {
  const ca = new X509Certificate((await makeCa('desk', Date.now())).cert);
  const server = await startTestServer({ trust: () => ({ der: ca.raw, ...describeCa(ca) }) });
  return { ca, ...server };
}

test('[HT206] the page on the CA is there without a credential, in the language that the browser asks for', async () => {
  const { ca, get } = await withCa();
  const page = (language: string) =>
    get('/trust', { token: null, headers: { 'accept-language': language } });
  const english = await page('de, en;q=0.5, zh;q=0.4');
  expect(english.status).toBe(200);
  expect(english.headers['content-type']).toBe('text/html; charset=utf-8');
  for (const word of [ca.fingerprint256, 'Certificate Trust Settings', 'lang="en"', 'certutil']) {
    expect(english.text).toContain(word);
  }
  for (const system of ['iPhone', 'Android', 'macOS', 'Windows']) {
    expect(english.text).toMatch(new RegExp(`<summary>[^<]*${system}[^<]*</summary><ol><li>`));
  }
  expect(english.text).toContain('Callboard CA of desk');
  const chinese = await page('zh-CN, en;q=0.5');
  expect(chinese.text).toContain('lang="zh"');
  expect(chinese.text).toContain('证书信任设置');
});

test('[HT206] T13: it runs no script, loads nothing, and is in no frame', async () => {
  const { get } = await withCa();
  const { headers, text } = await get('/trust', { token: null });
  const policy = String(headers['content-security-policy']);
  for (const part of ["default-src 'none'", "frame-ancestors 'none'"])
    expect(policy).toContain(part);
  const [, nonce = ''] = /style-src 'nonce-([^']+)'/.exec(policy) ?? [];
  expect(text).toContain(`<style nonce="${nonce}">`);
  expect(text).not.toMatch(/<script|\son\w+=|\sstyle=/);
});

test('[HT207] the CA comes as DER, and as a profile for iOS that is the same each time', async () => {
  const { ca, get } = await withCa();
  const der = await get('/trust/ca.crt', { token: null });
  expect(der.headers['content-type']).toBe('application/x-x509-ca-cert');
  expect(Number(der.headers['content-length'])).toBe(ca.raw.length);
  const profile = await get('/trust/ca.mobileconfig', { token: null });
  expect(profile.headers['content-type']).toBe('application/x-apple-aspen-config');
  expect(profile.text).toContain('<string>com.apple.security.root</string>');
  const [, data = ''] = /<data>([^<]+)<\/data>/.exec(profile.text) ?? [];
  expect(new X509Certificate(Buffer.from(data, 'base64')).fingerprint256).toBe(ca.fingerprint256);
  expect((await get('/trust/ca.mobileconfig', { token: null })).text).toBe(profile.text);
  expect(
    profile.text.match(/<string>[0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12}<\/string>/g),
  ).toHaveLength(2);
});

test('[HT207] a server without a CA of its own has none to install; nothing but reading is for these paths', async () => {
  const none = await startTestServer();
  for (const path of ['/trust', '/trust/ca.crt', '/trust/ca.mobileconfig']) {
    expect((await none.get(path, { token: null })).json.error.code).toBe('not_found');
  }
  const { post, get } = await withCa();
  expect((await post('/trust', {}, { token: null })).status).toBe(405);
  expect((await get('/trust/ca.key', { token: null })).status).toBe(303);
});
