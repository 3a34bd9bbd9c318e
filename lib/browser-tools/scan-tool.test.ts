import { expect, test } from 'vitest';
import type { ClientToolContext } from '../client/client-tool.ts';
import type { CodeReader } from './device-parts.ts';
import { createScanTool } from './media-tools.ts';

test('[BT5] a scan that is cancelled while its reader opens closes the reader', async () => {
  const cancelled = new AbortController();
  const opening = Promise.withResolvers<CodeReader>();
  const begun = Promise.withResolvers<void>();
  let closed = 0;
  const tool = createScanTool({
    permission: async () => 'granted',
    camera: { open: async () => ({ getTracks: () => [] }) as unknown as MediaStream },
    codes: {
      open() {
        begun.resolve();
        return opening.promise;
      },
    },
  });
  const context: Pick<ClientToolContext, 'signal' | 'status'> = {
    signal: cancelled.signal,
    status: () => {},
  };
  const scan = Promise.resolve(tool.run({}, context as ClientToolContext));
  await begun.promise;
  cancelled.abort(new Error('enough'));
  await expect(scan).rejects.toThrow('enough');
  const close = () => {
    closed += 1;
  };
  opening.resolve({ reader: 'qr', formats: [], read: async () => [], close });
  await opening.promise;
  expect(closed).toBe(1);
});
