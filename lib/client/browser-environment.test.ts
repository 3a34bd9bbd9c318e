import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openChromium } from './testing/open-chromium.ts';

const chromium = await openChromium(join(import.meta.dirname, 'testing/journal-page.ts'));

async function open() {
  const page = await chromium.open();
  onTestFinished(() => page.context().close());
  return page;
}

const WAKES = [
  ['window', 'online'],
  ['window', 'offline'],
  ['window', 'pageshow'],
  ['window', 'focus'],
  ['document', 'visibilitychange'],
  ['document', 'resume'],
] as const;

test('[CL35] each sign that a page is back is a wake-up', async () => {
  const page = await open();
  const counts = await page.evaluate((events) => window.journalRig.wakesBy(events), WAKES);
  expect(counts).toEqual([1, 1, 1, 1, 1, 1]);
});

test('[CL35] a hidden page wakes up by all of them, but not by becoming hidden', async () => {
  const page = await open();
  const counts = await page.evaluate((events) => {
    Object.defineProperty(document, 'visibilityState', { value: 'hidden' });
    return window.journalRig.wakesBy(events);
  }, WAKES);
  expect(counts).toEqual([1, 1, 1, 1, 0, 1]);
});

test('[CL36] every write to the journal is flushed before it counts', async () => {
  const page = await open();
  const durabilities = await page.evaluate(async () => {
    const seen: string[] = [];
    const { transaction } = IDBDatabase.prototype;
    IDBDatabase.prototype.transaction = function (...args) {
      const made = transaction.apply(this, args);
      if (made.mode === 'readwrite') seen.push(made.durability);
      return made;
    };
    const rig = window.journalRig;
    const { index } = await rig.openJournal('one', 10_000);
    await rig.put(index, { id: 'a', attempt: 1, tool: 'x', repeatable: false, answer: null });
    await rig.delete(index, 'a');
    return seen;
  });
  expect(durabilities).toEqual(['strict', 'strict', 'strict']);
});
