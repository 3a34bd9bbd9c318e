import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { invoke, readCall } from './contract/kit/calls.ts';
import { expect, test } from './contract/kit/contract-test.ts';
import { cardOf, signIn } from './support/workbench.ts';

/** What a tree or a table of thousands of rows would have in the page. */
const elementsIn = (place: Locator) => place.evaluate((one) => one.querySelectorAll('*').length);

const dialog = (page: Page, name: string) => page.getByRole('dialog', { name });

/** The file that a click on the button saves. */
async function fileOf(page: Page, button: Locator): Promise<{ name: string; text: string }> {
  const saved = page.waitForEvent('download');
  await button.click();
  const download = await saved;
  return {
    name: download.suggestedFilename(),
    text: await readFile(await download.path(), 'utf8'),
  };
}

test('a preview of 48 kB has few elements on its card, and opens whole', async ({
  page,
  callboard,
  connect,
}) => {
  const program = await connect.client(callboard, { tools: ['tide.scan'] });
  await signIn(page, callboard);
  const id = await invoke(callboard, 'tide.scan');
  await program.request();
  const preview = Array.from({ length: 3_000 }, (_, n) => `level ${n}: ok`);
  program.send({ type: 'tool_status', id, preview, tip: 'Scanning' });
  const card = cardOf(page, id);
  await expect(card).toContainText('Scanning');
  await expect(card.getByTestId('part-note')).toContainText(/Showing [12](\.\d)? kB of 49\.9 kB/);
  expect(await elementsIn(card)).toBeLessThan(700);
  await card.getByRole('button', { name: 'Open whole' }).click();
  const whole = dialog(page, 'So far');
  await expect(whole).toContainText('Items 1 to 100 of 3,000');
  expect(await elementsIn(whole)).toBeLessThan(700);
  await whole.getByRole('spinbutton', { name: 'Part' }).fill('30');
  await expect(whole).toContainText('level 2999: ok');
  expect(await elementsIn(whole)).toBeLessThan(700);
});

test('a large display says that it is a part; the whole opens and downloads, also after a restart', async ({
  page,
  startServer,
  connect,
}) => {
  const first = await startServer();
  const program = await connect.client(first, { tools: ['tide.table'] });
  const id = await invoke(first, 'tide.table');
  await program.request();
  const rows = Array.from({ length: 20_000 }, (_, n) => ({
    hour: n,
    level: `${n % 9} m`,
    é: null,
  }));
  program.succeed(id, 'for the model', { display: rows });
  await program.next('result_acknowledged');
  await first.stop('SIGKILL');

  const callboard = await startServer({ dataDir: first.dataDir, token: first.token });
  await signIn(page, callboard);
  const card = cardOf(page, id);
  await card.getByRole('button', { name: 'Result' }).click();
  await expect(card.getByTestId('part-note')).toContainText(/Showing 2 kB of 768\.9 kB/);
  await expect(card.getByRole('table')).toContainText('level');
  const ofCard = await fileOf(page, card.getByRole('button', { name: 'Download' }));
  expect(ofCard.name).toBe('tide.table.json');
  expect(JSON.parse(ofCard.text)).toEqual(rows);
  await card.getByRole('button', { name: 'Open whole' }).click();
  const whole = dialog(page, 'Result');
  await expect(whole).toContainText('Rows 1 to 100 of 20,000');
  await whole.getByRole('button', { name: 'As text' }).click();
  await expect(whole.locator('pre')).toContainText('"hour": 0');
  const output = whole.getByRole('button', { name: 'Download the output for the model' });
  const ofModel = await fileOf(page, output);
  expect(ofModel).toEqual({ name: 'tide.table-output.txt', text: 'for the model' });
  await page.keyboard.press('Escape');
  await expect(whole).toBeHidden();
  await expect(card.getByRole('button', { name: 'Open whole' })).toBeFocused();
});

test('a result of 8 MB opens a part at a time, as text and as a tree', async ({
  page,
  callboard,
  connect,
}) => {
  const program = await connect.client(callboard, { tools: ['book.read'] });
  await signIn(page, callboard);
  const text = `${'All work and no play. '.repeat(370_000)}The end.`;
  const list = Array.from({ length: 40_000 }, (_, n) => [n, { deep: 'x'.repeat(140) }]);
  for (const [output, first, last] of [
    [text, 'Characters 1 to 10,000 of 8,140,008', 'The end.'],
    [list, 'Items 1 to 100 of 40,000', 'Items 39,901 to 40,000'],
  ] as const) {
    const id = await invoke(callboard, 'book.read');
    await program.request();
    program.succeed(id, output);
    const card = cardOf(page, id);
    await expect(card).toHaveAttribute('data-status', 'SUCCESS');
    expect((await readCall(callboard, id)).result).toEqual(output);
    const result = card.locator('[data-disclosure="result"]');
    if ((await result.getAttribute('aria-expanded')) === 'false') await result.click();
    await card.getByRole('button', { name: 'Open whole' }).click();
    const whole = dialog(page, 'Result');
    await expect(whole).toContainText(first);
    await whole.getByRole('spinbutton', { name: 'Part' }).fill('999999');
    await expect(whole).toContainText(last);
    expect(await elementsIn(whole)).toBeLessThan(1_200);
    await page.keyboard.press('Escape');
    await expect(whole).toBeHidden();
  }
});

test('a person sees all of large arguments before allowing them, and edits all of them', async ({
  page,
  startServer,
  connect,
}, testInfo) => {
  const file = join(testInfo.outputDir, 'callboard.config.json');
  await mkdir(testInfo.outputDir, { recursive: true });
  await writeFile(file, JSON.stringify({ policy: { ask: ['mail.send'] } }));
  const callboard = await startServer({ env: { CALLBOARD_CONFIG: file } });
  const program = await connect.client(callboard, { tools: ['mail.send'] });
  await signIn(page, callboard);
  const args = { body: `${'Dear Ada. '.repeat(4_000)}Pay it to Mallory.`, to: 'ada@example.org' };
  const id = await invoke(callboard, 'mail.send', args);
  const card = cardOf(page, id);
  await expect(card).toContainText('Pay it to Mallory.');
  await card.getByRole('button', { name: 'Edit arguments…' }).click();
  const field = card.getByRole('textbox', { name: 'Arguments to allow' });
  expect(JSON.parse(await field.inputValue())).toEqual(args);
  const edited = { ...args, to: 'eve@example.org' };
  await field.fill(JSON.stringify(edited));
  await field.evaluate((one) => one.scrollTo(0, one.scrollHeight));
  await card.getByRole('button', { name: 'Allow with these' }).click();
  expect((await program.request()).args).toEqual(edited);
});
