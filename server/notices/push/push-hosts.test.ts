import { expect, test } from 'vitest';
import { createPushHosts } from './push-hosts.ts';

test.each([
  ['http://169.254.169.254/latest/meta-data', 'not_https'],
  ['https://169.254.169.254/latest/meta-data', 'unknown_host'],
  ['http://fcm.googleapis.com/fcm/send/1', 'not_https'],
  ['https://fcm.googleapis.com:8443/fcm/send/1', 'not_plain'],
  ['https://me@fcm.googleapis.com/fcm/send/1', 'not_plain'],
  ['https://fcm.googleapis.com/fcm/send/1#x', 'not_plain'],
  ['https://fcm.googleapis.com.example.org/1', 'unknown_host'],
  ['https://xpush.apple.com/1', 'unknown_host'],
  ['https://push.apple.com/1', 'unknown_host'],
  ['https://fcm.googleapis.com./1', 'unknown_host'],
  ['https://localhost/1', 'unknown_host'],
  ['https://[::1]/1', 'unknown_host'],
  ['file:///etc/passwd', 'not_https'],
  ['not an address', 'not_https'],
])('[WP3] the endpoint %s is refused: %s', (endpoint, problem) => {
  expect(createPushHosts(['push.example.org']).problemOf(endpoint)).toBe(problem);
});

test.each([
  'https://fcm.googleapis.com/fcm/send/1',
  'https://fcm.googleapis.com:443/fcm/send/1',
  'https://updates.push.services.mozilla.com/wpush/v2/1',
  'https://wns2-am3p.notify.windows.com/w/?token=1',
  'https://web.push.apple.com/1',
  'https://push.example.org/1',
])('[WP3] the endpoint %s is of a push service', (endpoint) => {
  expect(createPushHosts(['push.example.org']).problemOf(endpoint)).toBeUndefined();
});
