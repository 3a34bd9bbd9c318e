import { expect, test } from 'vitest';
import type { Call } from '#lib/call/call';
import { createErrorLog } from '../testing/error-log.ts';
import { CallFollowers } from './call-followers.ts';

test('who follows a call or a run hears of it alone, and one that throws takes nothing from the others', () => {
  const { logger, errors } = createErrorLog();
  const followers = new CallFollowers({ publish: () => 1 }, logger);
  const received: string[] = [];
  const publish = (id: string, runId: string) => {
    followers.publish({ id, runId } as Call, {});
    return received.splice(0);
  };
  followers.follow({ callId: 'a' }, () => {
    throw new Error('broken');
  });
  const leave = followers.follow({ callId: 'a' }, ({ call }) => void received.push(call.id));
  followers.follow({ runId: 'a' }, ({ call }) => void received.push(`run ${call.id}`));
  expect(publish('a', 'r')).toEqual(['a']);
  expect(publish('b', 'a')).toEqual(['run b']);
  leave();
  // Leaving twice takes no place of who came after.
  followers.follow({ callId: 'a' }, ({ call }) => void received.push(`new ${call.id}`));
  leave();
  expect(publish('a', 'r')).toEqual(['new a']);
  expect(errors).toEqual([new Error('broken'), new Error('broken')]);
});
