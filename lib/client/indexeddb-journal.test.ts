import { join } from 'node:path';
import type { Page } from 'playwright';
import { expect, onTestFinished, test } from 'vitest';
import { describeJournal, journalEntry } from './journal.contract.ts';
import type { Journal, JournalEntry } from './journal.ts';
import { openChromium } from './testing/open-chromium.ts';
import { createScriptedServer } from './testing/scripted-server.ts';
import { granted, request } from './testing/setup-client.ts';

const chromium = await openChromium(join(import.meta.dirname, 'testing/journal-page.ts'));

/** The journal of the page, as one of this process. */
async function openIn(
  page: Page,
  instance: string,
  maxBytes: number,
  now?: number,
): Promise<Journal> {
  const { index, epoch } = await page.evaluate(
    ([id, bytes, time]) => window.journalRig.openJournal(id, bytes, time),
    [instance, maxBytes, now] as const,
  );
  return {
    epoch,
    entries: () => page.evaluate((i) => window.journalRig.entries(i), index),
    put: (entry: JournalEntry) =>
      page.evaluate(([i, e]) => window.journalRig.put(i, e), [index, entry] as const),
    delete: (id) => page.evaluate(([i, e]) => window.journalRig.delete(i, e), [index, id] as const),
    close: () => void page.evaluate((i) => window.journalRig.close(i), index),
  };
}

async function open() {
  const page = await chromium.open();
  onTestFinished(() => page.context().close());
  return page;
}

describeJournal('the IndexedDB journal', async ({ maxBytes }) =>
  openIn(await open(), 'instance-1', maxBytes),
);

test('[CL7] it is there after a reload, under the same epoch', async () => {
  const page = await open();
  const before = await openIn(page, 'one', 10_000);
  await before.put(journalEntry('b'));
  await before.put(journalEntry('a', { output: 'open' }));
  await page.reload();
  const after = await openIn(page, 'one', 10_000);
  await after.put(journalEntry('c'));
  expect(after.epoch).toBe(before.epoch);
  expect((await after.entries()).map(({ id }) => id)).toEqual(['b', 'a', 'c']);
});

test('[CL15] instances have journals of their own', async () => {
  const page = await open();
  const [one, two] = [await openIn(page, 'one', 10_000), await openIn(page, 'two', 10_000)];
  await one.put(journalEntry('a'));
  await two.delete('a');
  expect(two.epoch).not.toBe(one.epoch);
  expect([await one.entries(), await two.entries()]).toEqual([[journalEntry('a')], []]);
});

test('[CL17] the sizes are known again after a reload', async () => {
  const page = await open();
  const output = 'x'.repeat(1_000);
  const before = await openIn(page, 'one', 2_500);
  await before.put(journalEntry('a', { output, repeatable: true }));
  await page.reload();
  const after = await openIn(page, 'one', 2_500);
  await after.put(journalEntry('b', { output, repeatable: true }));
  await after.put(journalEntry('c', { output, repeatable: true }));
  expect((await after.entries()).map(({ id }) => id)).toEqual(['b', 'c']);
});

test('a journal that nobody opened for a month is cleared away', async () => {
  const page = await open();
  const day = 24 * 60 * 60_000;
  const old = await openIn(page, 'old', 10_000, 0);
  await old.put(journalEntry('a'));
  const kept = await openIn(page, 'kept', 10_000, 29 * day);
  await kept.put(journalEntry('b'));
  await openIn(page, 'new', 10_000, 31 * day);
  const again = await openIn(page, 'old', 10_000, 31 * day);
  expect([await again.entries(), (await kept.entries()).length]).toEqual([[], 1]);
  expect(again.epoch).not.toBe(old.epoch);
});

test('[CL18] a page reloaded in mid-call does not run it again, and says so', async () => {
  const page = await open();
  const server = await createScriptedServer();
  onTestFinished(() => server.close());
  await page.evaluate((url) => void window.journalRig.start(url), server.url);
  const first = await server.accept();
  const hello = await first.welcome();
  first.send(request('tc_1'));
  await first.next('tool_call_claim');
  first.send(granted('tc_1'));
  await page.waitForFunction(() => window.journalRig.runs() === 1);
  await page.reload();
  await page.evaluate((url) => void window.journalRig.start(url), server.url);
  const second = await server.accept();
  const back = await second.welcome();
  expect(back).toMatchObject({
    client_id: 'client-1',
    resume_token: 'token-1',
    instance_id: hello.instance_id,
    journal_epoch: hello.journal_epoch,
    known: [{ id: 'tc_1', attempt: 1, phase: 'started' }],
  });
  expect(await second.answer()).toMatchObject({ id: 'tc_1', code: 'outcome_unknown' });
  expect(await page.evaluate(() => window.journalRig.runs())).toBe(1);
});

test('[CL15] a duplicated tab is another instance of the same client', async () => {
  const page = await open();
  const server = await createScriptedServer();
  onTestFinished(() => server.close());
  await page.evaluate((url) => void window.journalRig.start(url), server.url);
  const hello = await (await server.accept()).welcome();
  await page.waitForFunction(() => localStorage.getItem('callboard:client') !== null);
  const [copy] = await Promise.all([
    page.waitForEvent('popup'),
    page.evaluate(() => void window.open(location.href)),
  ]);
  await copy.waitForFunction(() => window.journalRig !== undefined);
  expect(await copy.evaluate(() => sessionStorage.getItem('callboard:instance'))).toBe(
    hello.instance_id,
  );
  await copy.evaluate((url) => void window.journalRig.start(url), server.url);
  const other = await (await server.accept()).welcome();
  expect(other.client_id).toBe('client-1');
  expect(other.instance_id).not.toBe(hello.instance_id);
  expect(other.journal_epoch).not.toBe(hello.journal_epoch);
});
