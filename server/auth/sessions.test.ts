import { expect, test } from 'vitest';
import { createManualClock } from '#lib/client/testing/manual-clock';
import type { SessionRecord } from '../store/store.ts';
import { SESSION_IDLE_MS, SESSION_MAX_MS, SESSION_RENEW_MS, Sessions } from './sessions.ts';

const NAME = 'callboard_session_0a1b2c3d';
const DAY_MS = 24 * 60 * 60_000;

test('[AU7] the cookie is out of reach of scripts and other sites, and has the name of its server', async () => {
  const { sessions } = setup();
  expect(sessions.cookieName).toBe(NAME);
  expect(await sessions.signIn(null, false)).toEqual({
    cookie: `${NAME}=secret-0; Max-Age=604800; Path=/; HttpOnly; SameSite=Strict`,
    key: 'secret-1',
  });
});

test('[AU7] by https the cookie goes over https alone', async () => {
  expect((await setup().sessions.signIn(null, true)).cookie).toMatch(/; Secure$/);
});

test('[AU64] sign-ins by http and by https on one host have cookies of their own, and both count', async () => {
  const { sessions } = setup();
  const [plain, secure] = [await sessions.signIn(null, false), await sessions.signIn(null, true)];
  expect(secure.cookie).toMatch(new RegExp(`^__Host-${NAME}=[^;]+; .*Path=/; .*; Secure$`));
  expect(plain.cookie).not.toContain('Secure');
  const both = `${plain.cookie.split(';')[0]}; ${secure.cookie.split(';')[0]}`;
  expect(await sessions.find(both, plain.key)).toBeDefined();
  const found = await sessions.find(both, secure.key);
  expect(found).toBeDefined();
  expect(await sessions.signOut(found?.id ?? '', true)).toMatch(
    new RegExp(`^__Host-${NAME}=; Max-Age=0; .*Secure$`),
  );
  expect(await sessions.find(both, plain.key)).toBeDefined();
});

test('[AU8] the store holds neither secret', async () => {
  const { sessions, stored } = setup();
  await sessions.signIn(null, false);
  expect(stored.size).toBe(1);
  expect(JSON.stringify([...stored.values()])).not.toContain('secret-');
});

test('[AU21] cookie and key are both needed, and of the same sign-in', async () => {
  const { sessions } = setup();
  const [mine, other] = [await sessions.signIn(null, false), await sessions.signIn(null, false)];
  expect(await sessions.find(mine.cookie, mine.key)).toBeDefined();
  for (const key of ['', 'secret-0', other.key, `${mine.key} `]) {
    expect(await sessions.find(mine.cookie, key), key).toBeUndefined();
  }
  expect(await sessions.find(undefined, mine.key)).toBeUndefined();
  expect(await sessions.findByCookie(mine.cookie)).toBeDefined();
});

test.each([
  undefined,
  '',
  NAME,
  `${NAME}=`,
  `x${NAME}=secret-0`,
  `${NAME}x=secret-0`,
  'callboard_session=secret-0',
  'callboard_session_ffffffff=secret-0',
])('[AU9] the cookie header %o carries no session', async (header) => {
  const { sessions } = setup();
  const { key } = await sessions.signIn(null, false);
  expect(await sessions.find(header, key)).toBeUndefined();
});

test('[AU22] cookies that others planted do not hide the right one', async () => {
  const { sessions } = setup();
  const { cookie, key } = await sessions.signIn(null, false);
  const planted = Array.from({ length: 560 }, (_, n) => `${NAME}=planted-${n}`).join('; ');
  expect(await sessions.find(`${planted}; theme=dark; ${cookie}`, key)).toBeDefined();
  expect(await sessions.find(`${planted}; ${planted}; ${cookie}`, key)).toBeDefined();
  expect(await sessions.findByCookie(`${planted}; ${cookie}`)).toBeDefined();
});

test('[AU22] no more than 600 of them are looked up', async () => {
  const { sessions, lookUps } = setup();
  const planted = Array.from({ length: 2_000 }, (_, n) => `${NAME}=planted-${n}`).join('; ');
  expect(await sessions.find(planted, 'k')).toBeUndefined();
  expect(lookUps()).toBe(600);
});

test('[AU22] of more than a thousand sign-ins the one that was found first is looked up again', async () => {
  const { sessions } = setup();
  const found = [];
  for (let n = 0; n <= 1_000; n += 1) {
    const { cookie } = await sessions.signIn(null, false);
    found.push(await sessions.findByCookie(cookie));
  }
  const ids = found.map((one) => one?.id ?? '');
  expect(ids.slice(0, 2).map((id) => sessions.isLive(id))).toEqual([false, true]);
});

test('[AU9] a session that is not used ends after twelve hours', async () => {
  const { sessions, clock } = setup();
  const { cookie, key } = await sessions.signIn(null, false);
  clock.advance(SESSION_IDLE_MS);
  expect(await sessions.find(cookie, key)).toBeUndefined();
});

test('[AU9] a session that is used lasts seven days and no longer', async () => {
  const { sessions, clock } = setup();
  const { cookie, key } = await sessions.signIn(null, false);
  for (let spent = 0; spent < SESSION_MAX_MS; spent += SESSION_IDLE_MS / 2) {
    expect(await sessions.find(cookie, key), `${spent / DAY_MS} days`).toBeDefined();
    clock.advance(SESSION_IDLE_MS / 2);
  }
  expect(await sessions.find(cookie, key)).toBeUndefined();
});

test('[AU9] use is written down once an hour', async () => {
  const { sessions, clock, writes } = setup();
  const { cookie, key } = await sessions.signIn(null, false);
  const before = writes();
  for (let n = 0; n < 100; n += 1) await sessions.find(cookie, key);
  expect(writes()).toBe(before);
  clock.advance(SESSION_RENEW_MS);
  await sessions.find(cookie, key);
  expect(writes()).toBe(before + 1);
});

test('[AU23] an open socket is use, and its session ends on the last day', async () => {
  const { sessions, clock } = setup();
  const ended: string[] = [];
  sessions.onEnd((id) => ended.push(id));
  const { cookie, key } = await sessions.signIn(null, false);
  const id = (await sessions.find(cookie, key))?.id ?? '';
  const releases = [sessions.hold(id), sessions.hold(id)];
  for (let spent = 0; spent < SESSION_MAX_MS; spent += SESSION_RENEW_MS) {
    await settled();
    expect(ended, `${spent / DAY_MS} days`).toEqual([]);
    clock.advance(SESSION_RENEW_MS);
  }
  await settled();
  expect(ended).toEqual([id]);
  for (const release of releases) release();
  clock.advance(SESSION_MAX_MS);
  await settled();
  expect(ended).toEqual([id]);
});

test('[AU23] a session that all let go of is watched no longer', async () => {
  const { sessions, clock, lookUps } = setup();
  const { cookie, key } = await sessions.signIn(null, false);
  const id = (await sessions.find(cookie, key))?.id ?? '';
  const [first, second] = [sessions.hold(id), sessions.hold(id)];
  await settled();
  const held = lookUps();
  first();
  first();
  clock.advance(SESSION_RENEW_MS);
  await settled();
  const before = lookUps();
  expect(before, 'held by the other').toBeGreaterThan(held);
  second();
  clock.advance(SESSION_IDLE_MS);
  await settled();
  expect(lookUps()).toBe(before);
  expect(await sessions.find(cookie, key), 'unused from then on').toBeUndefined();
});

test('[AU10] one that is held only after it ended has ended, also while others let go of it', async () => {
  const { sessions } = setup();
  const { cookie, key } = await sessions.signIn(null, false);
  const id = (await sessions.find(cookie, key))?.id ?? '';
  sessions.hold(id);
  await settled();
  await sessions.signOut(id, false);
  const ended: string[] = [];
  sessions.onEnd((one) => ended.push(one));
  sessions.hold(id);
  await settled();
  expect(ended).toEqual([id]);
});

test('[AU10] signing out ends this session, and calls its listeners', async () => {
  const { sessions } = setup();
  const ended: string[] = [];
  sessions.onEnd((id) => ended.push(id));
  const [mine, other] = [await sessions.signIn(null, false), await sessions.signIn(null, false)];
  const id = (await sessions.find(mine.cookie, mine.key))?.id ?? '';
  expect(await sessions.signOut(id, false)).toMatch(new RegExp(`^${NAME}=; Max-Age=0;`));
  expect(ended).toEqual([id]);
  expect(await sessions.find(mine.cookie, mine.key)).toBeUndefined();
  expect(await sessions.findByCookie(mine.cookie)).toBeUndefined();
  expect(await sessions.find(other.cookie, other.key)).toBeDefined();
});

/** What was begun in this moment has come to its end: the store of these tests answers at once. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

function setup() {
  const clock = createManualClock();
  let made = 0;
  let writes = 0;
  let lookUps = 0;
  const stored = new Map<string, SessionRecord>();
  const sessions = new Sessions({
    clock,
    instanceId: '0a1b2c3d',
    newSecret: () => `secret-${made++}`,
    logger: {
      error(cause) {
        throw cause;
      },
      info: () => {},
    },
    store: {
      async write(changes) {
        writes += 1;
        for (const change of changes) {
          if (change.type === 'delete_session') stored.delete(change.idHash);
          else if (change.type === 'put_session' || change.type === 'renew_session') {
            stored.set(change.session.idHash, change.session);
          }
        }
      },
      async findSession(cookieHash) {
        lookUps += 1;
        return [...stored.values()].find(({ idHash }) => idHash.startsWith(`${cookieHash}:`));
      },
    },
  });
  return { sessions, stored, clock, writes: () => writes, lookUps: () => lookUps };
}
