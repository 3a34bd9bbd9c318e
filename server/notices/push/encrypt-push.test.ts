import { expect, test } from 'vitest';
import { areReceiverKeys, encryptPush } from './encrypt-push.ts';
import { createBrowser } from './testing/fake-push-service.ts';

const bytes = (text: string) => Buffer.from(text, 'base64url');

/** RFC 8291, section 5 and appendix A. */
const VECTOR = {
  text: 'When I grow up, I want to be a watermelon',
  receiver: {
    p256dh: bytes(
      'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
    ),
    auth: bytes('BTBZMqHH6r4Tts7J_aSIgg'),
  },
  secrets: {
    salt: bytes('DGv6ra1nlYgDCS1FRnbzlw'),
    privateKey: bytes('yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw'),
  },
  body: 'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
};

test('[WP1] a message is that of the RFC, byte for byte', () => {
  const { text, receiver, secrets } = VECTOR;
  const body = encryptPush(Buffer.from(text), receiver, { isPadded: false, secrets });
  expect(body.toString('base64url')).toBe(VECTOR.body);
});

test('[WP1] messages of different lengths are of one length, each with keys of its own', () => {
  const browser = createBrowser();
  const { keys } = browser.body();
  const receiver = { p256dh: bytes(keys.p256dh), auth: bytes(keys.auth) };
  const [short, long, again] = ['a', 'b'.repeat(900), 'a'].map((word) =>
    encryptPush(Buffer.from(JSON.stringify({ word })), receiver),
  );
  expect(short?.length).toBe(long?.length);
  expect(short?.subarray(0, 86)).not.toEqual(again?.subarray(0, 86));
  expect(short && browser.read(short)).toEqual({ word: 'a' });
  const most = encryptPush(Buffer.from(JSON.stringify('c'.repeat(3_900))), receiver);
  expect(most.length).toBeLessThanOrEqual(4_096);
  expect(() => encryptPush(Buffer.alloc(4_096), receiver)).toThrow('3993 bytes at most');
});

test('[WP3] keys that no browser has are found out', () => {
  const { receiver } = VECTOR;
  expect(areReceiverKeys(receiver)).toBe(true);
  const offCurve = Buffer.from(receiver.p256dh);
  offCurve[64] = (offCurve[64] ?? 0) ^ 1;
  for (const p256dh of [offCurve, Buffer.alloc(65), receiver.p256dh.subarray(1)]) {
    expect(areReceiverKeys({ ...receiver, p256dh })).toBe(false);
  }
  expect(areReceiverKeys({ ...receiver, auth: Buffer.alloc(15) })).toBe(false);
});
