import { expect, test } from 'vitest';
import { StoreFailedError } from './store-errors.ts';
import { createWriteQueue } from './write-queue.ts';

function setup(commit: (items: readonly string[]) => void = () => {}) {
  const commits: (readonly string[])[] = [];
  const scheduled: (() => void)[] = [];
  const later: (() => void)[] = [];
  const queue = createWriteQueue<string>({
    async commit(items) {
      commit(items);
      commits.push(items);
    },
    schedule: (flush) => scheduled.push(flush),
    scheduleLater: (flush) => later.push(flush),
  });
  return { queue, commits, flush: () => scheduled.shift()?.(), scheduled, later };
}

test('[ST4] what is pushed at one moment is committed at once, and then resolved in order', async () => {
  const { queue, commits, flush, scheduled } = setup();
  const order: string[] = [];
  const pushes = ['a', 'b', 'c'].map((item) => queue.push(item).then(() => order.push(item)));
  expect(scheduled).toHaveLength(1);
  expect(commits).toEqual([]);
  flush();
  await Promise.all(pushes);
  expect(commits).toEqual([['a', 'b', 'c']]);
  expect(order).toEqual(['a', 'b', 'c']);
  const next = queue.push('d');
  flush();
  await next;
  expect(commits).toEqual([['a', 'b', 'c'], ['d']]);
});

test('[ST4] what may wait is committed after a moment, when nothing comes', async () => {
  const { queue, commits, later } = setup();
  const pushes = [queue.push('a', true)];
  later.shift()?.();
  await Promise.all(pushes);
  expect(commits).toEqual([['a']]);
  pushes.push(queue.push('b', true));
  expect(later).toHaveLength(1);
  later.shift()?.();
  await Promise.all(pushes);
});

test('[ST7] closing commits what may wait', async () => {
  const { queue, commits } = setup();
  const waiting = queue.push('a', true);
  await queue.close();
  await waiting;
  expect(commits).toEqual([['a']]);
});

/** Commits that end when the test says so. */
function slowSetup() {
  const later: (() => void)[] = [];
  const commits: { items: readonly string[]; end: (error?: Error) => void }[] = [];
  const queue = createWriteQueue<string>({
    commit: (items) =>
      new Promise((resolve, reject) => {
        commits.push({ items, end: (error) => (error ? reject(error) : resolve()) });
      }),
    schedule: (flush) => queueMicrotask(flush),
    scheduleLater: (flush) => later.push(flush),
  });
  const pushMany = (name: string, count: number) =>
    Array.from({ length: count }, (_, number) => queue.push(`${name}${number}`));
  return { queue, commits, later, pushMany, sizes: () => commits.map(({ items }) => items.length) };
}

test('[ST4] what came while the disk was busy is committed before what follows from that is done', async () => {
  const { queue, commits, pushMany } = slowSetup();
  const first = queue.push('first').then(() => commits.length);
  await Promise.resolve();
  const others = pushMany('other', 3);
  expect(commits).toHaveLength(1);
  commits[0]?.end();
  expect(await first).toBe(2);
  expect(commits[1]?.items).toEqual(['other0', 'other1', 'other2']);
  commits[1]?.end();
  await Promise.all(others);
});

test('[ST4] a commit that ends takes nothing with it that may wait', async () => {
  const { queue, commits } = slowSetup();
  const first = queue.push('first');
  await Promise.resolve();
  queue.push('later', true);
  commits[0]?.end();
  await first;
  expect(commits).toHaveLength(1);
  queue.push('now');
  await Promise.resolve();
  expect(commits[1]?.items).toEqual(['later', 'now']);
});

test('[ST4] what has waited its moment while a commit is on its way is in the next, with what came by then', async () => {
  const { queue, commits, later } = slowSetup();
  const pushes = [queue.push('first'), queue.push('waited', true)];
  await Promise.resolve();
  expect(commits.map(({ items }) => items)).toEqual([['first', 'waited']]);
  pushes.push(queue.push('again', true));
  later.shift()?.();
  pushes.push(queue.push('now'));
  commits[0]?.end();
  await pushes[0];
  expect(commits.slice(1).map(({ items }) => items)).toEqual([['again', 'now']]);
  commits[1]?.end();
  await Promise.all(pushes);
});

test('[ST4] 64 writes of a moment do not wait for its end, nor for the commit that is on its way', async () => {
  const { commits, pushMany, sizes } = slowSetup();
  const pushes = pushMany('a', 200);
  expect(sizes()).toEqual([64, 64]);
  commits[0]?.end();
  await pushes[63];
  expect(sizes()).toEqual([64, 64, 72]);
  for (const { end } of commits) end();
  await Promise.all(pushes);
});

test('[ST4] a commit that begins beside another one has half of what is not on disk yet', async () => {
  const { commits, pushMany, sizes } = slowSetup();
  const pushes = pushMany('a', 256);
  commits[0]?.end();
  commits[1]?.end();
  await pushes[127];
  expect(sizes()).toEqual([64, 64, 128]);
  pushes.push(...pushMany('b', 127));
  expect(sizes()).toHaveLength(3);
  pushes.push(...pushMany('c', 1));
  expect(sizes()).toEqual([64, 64, 128, 128]);
  for (const { end } of commits) end();
  await Promise.all(pushes);
});

test('[ST5] a commit that fails rejects its group and all that come later', async () => {
  const cause = new Error('disk full');
  const { queue, commits, flush } = setup((items) => {
    if (items.includes('bad')) throw cause;
  });
  const group = [queue.push('good'), queue.push('bad')];
  flush();
  for (const push of group) await expect(push).rejects.toMatchObject({ cause });
  expect(queue.failed).toBe(true);
  await expect(queue.push('later')).rejects.toThrow(StoreFailedError);
  await expect(queue.push('later')).rejects.toThrow(/disk full/);
  expect(commits).toEqual([]);
});

test('[ST5] a failure told from outside rejects what waits', async () => {
  const { queue, commits, flush } = setup();
  const waiting = queue.push('a');
  expect(queue.fail('no more')).toBe(queue.fail('again'));
  flush();
  await expect(waiting).rejects.toThrow(/no more/);
  expect(commits).toEqual([]);
});
