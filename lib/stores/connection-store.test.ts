import { expect, test } from 'vitest';
import { createConnectionStore, feedChanged } from './connection-store.ts';

test('[CD36] the time of a loss is that of its first state, until the next connection', () => {
  const connection = createConnectionStore();
  const lostAt = () => connection.getState().lostAt;
  connection.setState(feedChanged({ kind: 'offline' }, 1));
  expect(lostAt()).toBeNull();
  connection.setState(feedChanged({ kind: 'connected' }, 2));
  expect(lostAt()).toBeNull();
  connection.setState(feedChanged({ kind: 'reconnecting', attempt: 1, retryAt: 4 }, 3));
  connection.setState(feedChanged({ kind: 'offline' }, 5));
  expect(lostAt()).toBe(3);
  connection.setState(feedChanged({ kind: 'connected' }, 6));
  expect(lostAt()).toBeNull();
});
