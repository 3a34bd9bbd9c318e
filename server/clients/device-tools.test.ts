import { expect, test } from 'vitest';
import type { DeviceTool } from '#lib/protocol/device';
import { decideTools, offerTool } from './device-record.ts';

const tool = (name: string, description = 'Says it again', more: object = {}): DeviceTool => ({
  ...{ name, description, parameters: { type: 'object', ...more }, hash: `hash of ${name}` },
});

const none = { tools: [], waiting: [], denied: [] };

test('[DV34] each tool is measured once, however many are offered behind it', () => {
  let measured = 0;
  const toJSON = () => {
    measured += 1;
    return {};
  };
  let device = none;
  for (let n = 0; n < 100; n += 1) {
    ({ device } = offerTool(device, tool(`tool_${n}`, 'One of many', { toJSON }), 0));
  }
  expect([device.waiting.length, measured]).toEqual([100, 100]);
});

test('[DV34] the limit counts bytes, also of texts whose characters have three', () => {
  const description = '\u8bbe'.repeat(400_000);
  const first = offerTool(none, tool('one', description), 0);
  expect(first.admission).toBe('waiting');
  expect(offerTool(first.device, tool('two', description), 0).admission).toBe('too_many');
});

test('[DV34] no decision allows more tools than a device may have', () => {
  const [allowed, waits] = ['a', 'b'].map((of) =>
    Array.from({ length: 128 }, (_, n) => tool(`${of}${n}`)),
  );
  const waiting = (waits ?? []).map((one) => ({ tool: one, before: null, askedAt: 0 }));
  const device = { tools: allowed ?? [], waiting, denied: [] };
  expect(decideTools(device, ['hash of b0'], [])).toBe('too_many');
  expect(decideTools(device, ['hash of b0'], ['hash of a0'])).toMatchObject({
    denied: [{ name: 'a0' }],
  });
  expect(decideTools(device, ['hash of c0'], [])).toBe('unknown');
});
