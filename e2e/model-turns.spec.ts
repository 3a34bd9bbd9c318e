import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import type { Script } from '../server/testing/scripted-openai.ts';
import { expect, test } from './support/scripted-run.ts';
import { cardsFor, chooseInMenu, conversation, say, signInByToken } from './support/workbench.ts';

const reckon: Script = ({ index }) =>
  index === 0
    ? {
        text: 'Let me see.',
        calls: [{ name: 'calculation_eval', args: { expression: '6 * 7' } }],
        usage: { input: 1_234, output: 56, reasoning: 30, cached: 1_024 },
      }
    : { text: 'Six times seven is 42.' };

async function reckoned(page: Page, answer = 'Six times seven is 42.') {
  await expect(conversation(page)).toContainText(answer);
  await expect(page.getByTestId('run-status')).toBeHidden();
}

async function expectAccessible(page: Page): Promise<void> {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  for (const theme of ['light', 'dark']) {
    await page.evaluate((name) => {
      document.documentElement.dataset.theme = name;
    }, theme);
    const { violations } = await new AxeBuilder({ page }).setLegacyMode().analyze();
    expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
    const body = await page.screenshot();
    await test.info().attach(`${theme}.png`, { body, contentType: 'image/png' });
  }
}

test('a step shows by the keyboard which model wrote it, how long it took and its tokens, fetched when opened', async ({
  page,
  startScripted,
}) => {
  const { board } = await startScripted('chat', reckon);
  await signInByToken(page, board);
  const asked: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('/model_turns')) asked.push(request.url());
  });
  await say(page, 'Six times seven?');
  await reckoned(page);
  const steps = page.getByTestId('step-details');
  await expect(steps).toHaveCount(2);
  expect(asked).toEqual([]);
  await steps.first().getByText('Details').focus();
  await page.keyboard.press('Enter');
  await expect(steps.first()).toContainText('openai-chat:scripted');
  await expect(steps.first()).toContainText(
    '1,234 in (1,024 from the cache) and 56 out (30 to think)',
  );
  await expect(steps.first()).toContainText('The model called tools.');
  await expect(steps.first()).toContainText('first piece after');
  await steps.nth(1).getByText('Details').click();
  await expect(steps.nth(1)).toContainText('The model was done.');
  await expect(steps.nth(1)).toContainText('not counted by the provider');
  expect(asked).toHaveLength(2);
  await expectAccessible(page);
});

test('a card shows what the model got, exactly, with the request that had it; on a phone in Chinese too', async ({
  page,
  context,
  startScripted,
}) => {
  const { board, openai } = await startScripted('chat', reckon);
  await signInByToken(page, board);
  await say(page, 'Six times seven?');
  await reckoned(page);
  await chooseInMenu(page, cardsFor(page, 'calculation.eval'), 'What the model got');
  const dialog = page.getByRole('dialog', { name: 'What the model got' });
  const text = openai.requests[1]?.toolResults[0]?.text ?? '';
  await expect(dialog.getByTestId('model-output')).toHaveText(text);
  await expect(dialog).toContainText(`${text.length} characters · ${text.length} B`);
  await expect(dialog).toContainText('Sent to openai-chat:scripted');
  await expect(dialog).toContainText('turn 1, step 2. It was exactly this text.');
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  await expect(dialog).toBeHidden();

  await context.addCookies([{ name: 'locale', value: 'zh', url: board.url }]);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.reload();
  await page.getByTestId('step-details').first().getByText('详情').click();
  await expect(page.getByTestId('step-details').first()).toContainText(
    '输入 1,234（其中缓存 1,024）和输出 56',
  );
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(overflow).toBe(0);
  await expectAccessible(page);
});
