import {
  createDecipheriv,
  createECDH,
  createHmac,
  createPublicKey,
  type ECDH,
  randomBytes,
  verify,
} from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { serveHttp } from '#lib/net/testing/serve-http';
import type { PushSubscriptionBody } from '#lib/protocol/push';

export const PUSH_ORIGIN = 'https://fcm.googleapis.com';

/** As a push service was asked. */
export interface PushRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The connection ends within the body, which is noticed before the response is looked at. */
  readonly isCut?: boolean;
}

/** A push service over real HTTP, under the address of a real one. It ends with its test. */
export async function startPushService() {
  const requests: PushRequest[] = [];
  const answers: Answer[] = [];
  const { origin: here, close } = await serveHttp(async (incoming, outgoing) => {
    const body = await buffer(incoming);
    requests.push({ path: incoming.url ?? '', headers: incoming.headers, body });
    const { status, headers, isCut = false }: Answer = answers.shift() ?? { status: 201 };
    outgoing.writeHead(status, headers);
    if (isCut) outgoing.write('x', () => outgoing.destroy());
    else outgoing.end('x'.repeat(2_000));
  });
  onTestFinished(close);
  return {
    requests,
    /** In order; what comes after them is 201. */
    answer: (...next: Answer[]) => void answers.push(...next),
    async fetch(url: string, init: RequestInit): Promise<Response> {
      const response = await fetch(url.replace(PUSH_ORIGIN, here), init);
      // Its end, where that is an early one.
      await response
        .clone()
        .text()
        .catch(() => '');
      return response;
    },
  };
}

/** A browser that has subscribed: its keys, and what it reads of a message. Written apart from the sender. */
export function createBrowser(
  endpoint = `${PUSH_ORIGIN}/fcm/send/${randomBytes(9).toString('hex')}`,
) {
  const pair = createECDH('prime256v1');
  pair.generateKeys();
  const auth = randomBytes(16);
  const keys = {
    p256dh: pair.getPublicKey('base64url'),
    auth: auth.toString('base64url'),
  };
  return {
    endpoint,
    body: (more: Partial<PushSubscriptionBody> = {}): PushSubscriptionBody => ({
      ...{ endpoint, keys, locale: 'en', kinds: ['approvals', 'failures'], details: false },
      ...more,
    }),
    read: (body: Buffer) => JSON.parse(decrypt(body, pair, auth)) as Record<string, unknown>,
  };
}

const hmac = (key: Buffer, ...parts: (Buffer | string)[]): Buffer => {
  const made = createHmac('sha256', key);
  for (const part of parts) made.update(part);
  return made.digest();
};

/** RFC 8291, section 4, step by step. */
function decrypt(body: Buffer, pair: ECDH, auth: Buffer): string {
  const [salt, keyLength] = [body.subarray(0, 16), body.readUInt8(20)];
  const senderKey = body.subarray(21, 21 + keyLength);
  const sealed = body.subarray(21 + keyLength);
  const secret = hmac(
    hmac(auth, pair.computeSecret(senderKey)),
    ...['WebPush: info\0', pair.getPublicKey(), senderKey, '\x01'],
  );
  const pseudo = hmac(salt, secret);
  const key = hmac(pseudo, 'Content-Encoding: aes128gcm\0\x01').subarray(0, 16);
  const nonce = hmac(pseudo, 'Content-Encoding: nonce\0\x01').subarray(0, 12);
  const decipher = createDecipheriv('aes-128-gcm', key, nonce);
  decipher.setAuthTag(sealed.subarray(-16));
  const plain = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
  return plain.subarray(0, plain.lastIndexOf(2)).toString();
}

/** What a token says, once its signature was found good for the key beside it. */
export function readVapid(header: string | string[] | undefined): { claims: object; key: string } {
  const [, token = '', key = ''] = /^vapid t=(\S+), k=(\S+)$/.exec(String(header)) ?? [];
  const [head = '', claims = '', signature = ''] = token.split('.');
  const point = Buffer.from(key, 'base64url');
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((one) =>
    one.toString('base64url'),
  );
  const publicKey = createPublicKey({
    key: { kty: 'EC', crv: 'P-256', x, y } as JsonWebKey,
    format: 'jwk',
  });
  const isGood = verify(
    'sha256',
    Buffer.from(`${head}.${claims}`),
    { key: publicKey, dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  );
  if (!isGood) throw new Error('the signature is not of this key');
  const parse = (text: string) => JSON.parse(Buffer.from(text, 'base64url').toString()) as object;
  return { claims: { ...parse(head), ...parse(claims) }, key };
}
