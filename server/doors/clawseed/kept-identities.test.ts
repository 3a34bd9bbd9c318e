import { expect, test } from 'vitest';
import { createKeptIdentities } from './chat-tools.ts';

const identity = (client_id: string) => ({ client_id, resume_token: 'secret' });

test('[CLS10] an identity is given to one connection, and the oldest are forgotten', () => {
  const kept = createKeptIdentities(2);
  kept.keep('tok', 'a', identity('one'));
  kept.keep('tok', 'b', identity('two'));
  kept.keep('tok', 'a', identity('three'));
  kept.keep('tok', 'c', identity('four'));
  expect(kept.take('b')).toBeUndefined();
  expect(kept.take('a')).toEqual(identity('three'));
  expect(kept.take('a')).toBeUndefined();
});
