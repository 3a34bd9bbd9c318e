import type { Locator, Page } from '@playwright/test';
import { invoke, readCall } from './contract/kit/calls.ts';
import { expect, test } from './contract/kit/contract-test.ts';
import { cardOf, signIn } from './support/workbench.ts';

/** A tree or a table of thousands of rows would have these in the page. */
const elementsIn = (place: Locator) => place.evaluate((one) => one.querySelectorAll('*').length);

const dialog = (page: Page, name: string) => page.getByRole('dialog', { name });

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
