import { expect, test } from 'vitest';
import { parseWatchMessage } from './parse-watch-message.ts';

test.each([
  '{"type":"probe_ack","nonce":{"toString":1}}',
  '{"type":"error","code":{"toString":1},"message":"m"}',
  '{"type":"error","code":"c","message":[{"toString":1}]}',
])('[SW11] %s makes no sense, and is not made into text', (frame) => {
  expect(parseWatchMessage(frame)).toBeUndefined();
});
