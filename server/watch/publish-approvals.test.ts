import { expect, test } from 'vitest';
import { sampleCall } from '#lib/call/testing/sample-call';
import type { WatchEventBody } from '#lib/protocol/watch-messages';
import { publishApproval } from './snapshot.ts';

const waiting = (reason: string, deadline: number) =>
  sampleCall({
    phase: 'approval',
    card: {
      params: {},
      phase: 'approval',
      tool_name: 'pay',
      approval_reason: reason,
      clock: { name: 'approval', deadline_at: deadline },
    },
  });

test('[WA9] a question is published when it begins, when it changes and when it is over', () => {
  const published: WatchEventBody[] = [];
  const bus = { publish: (event: WatchEventBody) => published.push(event) };
  const first = waiting('It pays', 600);
  const tip = { ...first, card: { ...first.card, tip: 'Soon' } };
  const again = waiting('It has changed', 900);
  const lives = [sampleCall(), first, tip, again, sampleCall({ phase: 'queued' }), sampleCall()];
  for (const [at, record] of lives.entries()) publishApproval(bus, record, lives[at - 1]);
  expect(
    published.map((event) => (event.type === 'approval' ? event.approval?.reason : '')),
  ).toEqual(['It pays', 'It has changed', undefined]);
});
