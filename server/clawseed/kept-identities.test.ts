import { expect, test } from 'vitest';
import { createKeptIdentities } from './kept-identities.ts';

const identity = (client_id: string) => ({ client_id, resume_token: 'secret' });

test('[CLS10] an identity is given to one connection, and the oldest are forgotten', () => {
  const kept = createKeptIdentities(2);
  kept.keep('a', identity('one'));
  kept.keep('b', identity('two'));
  kept.keep('a', identity('three'));
  kept.keep('c', identity('four'));
  expect(kept.take('b')).toBeUndefined();
  expect(kept.take('a')).toEqual(identity('three'));
  expect(kept.take('a')).toBeUndefined();
});
