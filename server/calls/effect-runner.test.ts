import { expect, test } from 'vitest';
import { sampleCall } from '#lib/call/testing/sample-call';
import { EffectRunner } from './call-executor.ts';
import { PendingReoffers } from './pending-reoffers.ts';

test('[CA26] what starts and stops a call goes to clients if it is of one, else to what runs inside', () => {
  const done: string[] = [];
  const executor = (name: string) => ({
    start: () => void done.push(`${name} starts`),
    stop: (_: unknown, reason: string) => void done.push(`${name} stops: ${reason}`),
  });
  const executors = { clients: executor('clients'), inside: executor('inside') };
  const runner = new EffectRunner({ executors, reoffers: new PendingReoffers() });
  const mine = sampleCall({ source: 'client' });
  const theirs = sampleCall({ source: 'mcp', toolProvider: 'mcp:files' });
  runner.run({ type: 'request', after: 'nothing' }, mine);
  runner.run({ type: 'run', after: 'event' }, theirs);
  runner.run({ type: 'stop', reason: 'enough', after: 'event' }, theirs);
  expect(done).toEqual(['clients starts', 'inside starts', 'inside stops: enough']);
});
