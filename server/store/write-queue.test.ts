import { expect, test } from 'vitest';
import { StoreFailedError } from './store.ts';
import { createWriteQueue } from './write-queue.ts';

function setup(commit: (items: readonly string[]) => void = () => {}) {
  const commits: (readonly string[])[] = [];
  const scheduled: (() => void)[] = [];
  const queue = createWriteQueue<string>({
    async commit(items) {
      commit(items);
      commits.push(items);
    },
    schedule: (flush) => scheduled.push(flush),
  });
  return { queue, commits, flush: () => scheduled.shift()?.(), scheduled };
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

test('[ST7] closing commits what waits, and is no failure', async () => {
  const { queue, commits, flush } = setup();
  const waiting = queue.push('a');
  const closed = queue.close();
  await waiting;
  await closed;
  flush();
  expect(commits).toEqual([['a']]);
  expect(queue.failed).toBe(false);
  await expect(queue.push('b')).rejects.toThrow('the database is closed');
});
