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

/** A tab of a browser: `identityOf` is what its hello would. */
function createTab(shared: KeyValueStorage, own = createStorage()) {
  const identity = createStoredIdentity({ shared, own });
  return {
    own,
    identityOf: (instanceId: string) => [identity.clientId(), identity.resumeToken(instanceId)],
    welcome: (instanceId: string, clientId: string, resumeToken: string) =>
      identity.save({ clientId, resumeToken, instanceId }),
    reload: () => createTab(shared, own),
  };
}

test('[CL16] a new tab proves by the token of another that it is of the same browser', () => {
  const shared = createStorage();
  expect(createTab(shared).identityOf('i1')).toEqual([undefined, undefined]);
  createTab(shared).welcome('i1', 'c1', 't1');
  expect(createTab(shared).identityOf('i2')).toEqual(['c1', 't1']);
});

test('[CL16] a tab keeps its token over a reload, whatever other tabs are given', () => {
  const shared = createStorage();
  const tab = createTab(shared);
  tab.welcome('i1', 'c1', 't1');
  createTab(shared).welcome('i2', 'c1', 't2');
  expect(tab.reload().identityOf('i1')).toEqual(['c1', 't1']);
});

test('[CL16] a tab that had to take a new instance id proves its client by the newest token', () => {
  const shared = createStorage();
  const tab = createTab(shared);
  tab.welcome('i1', 'c1', 't1');
  // Another page has come back as this instance: the token of before is over.
  createTab(shared).welcome('i1', 'c1', 't2');
  expect(tab.identityOf('i3')).toEqual(['c1', 't2']);
});

test('[CL16] a tab that was given another id keeps it, and so do the others', () => {
  const shared = createStorage();
  const [first, second] = [createTab(shared), createTab(shared)];
  first.welcome('i1', 'c1', 't1');
  second.welcome('i2', 'c2', 't2');
  expect(first.identityOf('i1')).toEqual(['c1', 't1']);
  expect(second.identityOf('i2')).toEqual(['c2', 't2']);
  // The token that all know proves the other client, and nothing of this one.
  expect(first.identityOf('i3')).toEqual(['c1', 't1']);
  expect(createTab(shared).identityOf('i4')).toEqual(['c2', 't2']);
});

test.each(['client_of_an_older_version', '{"clientId":7}', 'null', '{'])(
  '[CL16] what is stored and cannot be read makes a new client: %s',
  (text) => {
    const shared = createStorage();
    const tab = createTab(shared);
    tab.welcome('i1', 'c1', 't1');
    for (const storage of [shared, tab.own]) storage.setItem('callboard:client', text);
    expect(tab.identityOf('i1')).toEqual([undefined, undefined]);
  },
);
