import { expect, test } from 'vitest';
import { createStoredIdentity, type KeyValueStorage } from './client-identity.ts';

function createStorage(): KeyValueStorage {
  const items = new Map<string, string>();
  return {
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => void items.set(key, value),
    removeItem: (key) => void items.delete(key),
  };
}

test('[CL16] a new tab comes as the client that the browser already is, without its token', () => {
  const shared = createStorage();
  const first = createStoredIdentity({ shared, own: createStorage() });
  first.save({ clientId: 'c1', resumeToken: 't1' });
  const second = createStoredIdentity({ shared, own: createStorage() });
  expect([second.clientId(), second.resumeToken()]).toEqual(['c1', undefined]);
});

test('[CL16] a tab keeps its token over a reload, whatever other tabs are given', () => {
  const [shared, own] = [createStorage(), createStorage()];
  createStoredIdentity({ shared, own }).save({ clientId: 'c1', resumeToken: 't1' });
  const other = createStoredIdentity({ shared, own: createStorage() });
  other.save({ clientId: 'c1', resumeToken: 't2' });
  expect(createStoredIdentity({ shared, own }).resumeToken()).toBe('t1');
});

test('[CL16] a tab that was given another id keeps it, and so do the others', () => {
  const shared = createStorage();
  const [first, second] = [createStorage(), createStorage()].map((own) =>
    createStoredIdentity({ shared, own }),
  );
  first?.save({ clientId: 'c1', resumeToken: 't1' });
  second?.save({ clientId: 'c2', resumeToken: 't2' });
  expect([first?.clientId(), first?.resumeToken()]).toEqual(['c1', 't1']);
  expect([second?.clientId(), second?.resumeToken()]).toEqual(['c2', 't2']);
});
