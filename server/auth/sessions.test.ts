import { expect, test } from 'vitest';
import type { SessionRecord } from '../store/store.ts';
import { createSessions, SESSION_MS } from './sessions.ts';

test('[AU7] the cookie is out of reach of scripts and other sites', async () => {
  const cookie = await setup().sessions.signIn();
  expect(cookie).toBe(
    'callboard_session=secret-0; Max-Age=2592000; Path=/; HttpOnly; SameSite=Strict',
  );
});

test('[AU7] by https the cookie goes over https alone', async () => {
  expect(await setup({ secure: true }).sessions.signIn()).toMatch(/; Secure$/);
});

test('[AU8] the store never sees the secret', async () => {
  const { sessions, stored } = setup();
  await sessions.signIn();
  expect(stored.size).toBe(1);
  expect(JSON.stringify([...stored.values()])).not.toContain('secret-0');
});

test('[AU9] a session ends after 30 days', async () => {
  const { sessions, advance } = setup();
  const cookie = await sessions.signIn();
  advance(SESSION_MS - 1);
  expect(await sessions.find(`theme=dark; ${cookie}`)).toBeDefined();
  advance(1);
  expect(await sessions.find(cookie)).toBeUndefined();
});

test('[AU10] signing out ends this session, and its holders are told', async () => {
  const { sessions } = setup();
  const told: string[] = [];
  sessions.onSignOut((id) => told.push(id));
  const [mine, other] = [await sessions.signIn(), await sessions.signIn()];
  const id = (await sessions.find(mine)) ?? '';
  expect(await sessions.signOut(id)).toMatch(/^callboard_session=; Max-Age=0;/);
  expect(told).toEqual([id]);
  expect(await sessions.find(mine)).toBeUndefined();
  expect(await sessions.find(other)).toBeDefined();
});

test.each([
  undefined,
  '',
  'callboard_session',
  'callboard_session=',
  'xcallboard_session=secret-0',
])('[AU9] the cookie header %o carries no session', async (header) => {
  const { sessions } = setup();
  await sessions.signIn();
  expect(await sessions.find(header)).toBeUndefined();
});

function setup({ secure = false } = {}) {
  let now = 1_000;
  let made = 0;
  const stored = new Map<string, SessionRecord>();
  const sessions = createSessions({
    secure,
    clock: { now: () => now, schedule: () => () => {} },
    newSecret: () => `secret-${made++}`,
    store: {
      async write(changes) {
        for (const change of changes) {
          if (change.type === 'put_session') stored.set(change.session.idHash, change.session);
          if (change.type === 'delete_session') stored.delete(change.idHash);
        }
      },
      getSession: async (idHash) => stored.get(idHash),
    },
  });
  return {
    sessions,
    stored,
    advance(ms: number) {
      now += ms;
    },
  };
}
