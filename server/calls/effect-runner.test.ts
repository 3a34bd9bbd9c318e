import { expect, test } from 'vitest';
import { sampleCall } from '#lib/call/testing/sample-call';
import { EffectRunner } from './effect-runner.ts';
import { PendingReoffers } from './pending-reoffers.ts';

test('[CA26] what starts and stops a call goes to the provider that the record names', () => {
  const done: string[] = [];
  const provider = (name: string) => ({
    start: () => void done.push(`${name} starts`),
    stop: (_: unknown, reason: string) => void done.push(`${name} stops: ${reason}`),
  });
  const providers = new Map(['clients', 'mcp:files'].map((name) => [name, provider(name)]));
  const runner = new EffectRunner({ providers, reoffers: new PendingReoffers() });
  const [mine, theirs] = ['clients', 'mcp:files'].map((toolProvider) =>
    sampleCall({ toolProvider }),
  );
  if (!mine || !theirs) throw new Error('Cannot be');
  runner.run({ type: 'request', after: 'nothing' }, mine);
  runner.run({ type: 'run', after: 'event' }, theirs);
  runner.run({ type: 'stop', reason: 'enough', after: 'event' }, theirs);
  expect(done).toEqual(['clients starts', 'mcp:files starts', 'mcp:files stops: enough']);
  const unknown = sampleCall({ toolProvider: 'mcp:gone' });
  expect(() => runner.run({ type: 'run', after: 'event' }, unknown)).toThrow('mcp:gone');
});
