import { expect, test } from 'vitest';
import { sampleEvent } from '#lib/call/testing/sample-call';
import { toWireEvent } from './to-wire-call.ts';

test('[AU36] people are shown by which token and from where, agents are not', () => {
  const via = { tokenId: 'tok_1', address: '192.0.2.7' };
  const event = sampleEvent({ actor: 'operator:olga', via });
  expect(toWireEvent(event, true)).toMatchObject({
    actor: 'operator:olga',
    via: { token_id: 'tok_1', address: '192.0.2.7' },
  });
  expect(toWireEvent(event, false)).not.toHaveProperty('via');
  expect(toWireEvent(sampleEvent(), true)).not.toHaveProperty('via');
});
