import type { Script } from '../server/testing/scripted-openai.ts';
import { asToken, makeToken } from './contract/kit/tokens.ts';
import { expect, test } from './support/scripted-run.ts';
import {
  cardsFor,
  connection,
  conversation,
  say,
  signIn,
  signInByToken,
} from './support/workbench.ts';

const QUESTION = {
  question: 'Which gate is to be opened?',
  choices: [
    { label: 'The north gate', value: 'north' },
    { label: 'The south gate', value: 'south' },
  ],
};

const script: Script = ({ toolResults }) =>
  toolResults.length > 0
    ? { text: `So it is: ${toolResults.at(-1)?.text}` }
    : { calls: [{ name: 'ask_human', args: QUESTION }] };

test('[AP11] a model asks a person, who answers by the keyboard after a restart; a viewer and another page see whose answer it was', async ({
  page,
  browser,
  startServer,
  startScripted,
}, testInfo) => {
  testInfo.setTimeout(120_000);
  const config = { tools: { ask_human: {} } };
  const { board: first, env } = await startScripted('chat', script, { config });
  const port = new URL(first.url).port;
  const vera = await makeToken(first, { kind: 'operator', name: 'vera', role: 'viewer' });
  await signIn(page, first);
  await say(page, 'Open a gate');
  const card = cardsFor(page, 'ask_human').first();
  await expect(card).toHaveAttribute('data-look', 'question');
  await expect(page.getByTestId('waits-for-person')).toBeVisible();

  await first.stop('SIGKILL');
  const options = { env: { ...env, CALLBOARD_PORT: port }, dataDir: first.dataDir };
  const board = await startServer({ ...options, token: first.token });
  await expect(connection(page)).toHaveAttribute('data-state', 'connected');
  await expect(card).toHaveAttribute('data-look', 'question');

  const other = await (await browser.newContext()).newPage();
  await signInByToken(other, asToken(board, vera));
  await other.context().addCookies([{ name: 'locale', value: 'zh', url: board.url }]);
  await other.reload();
  const seen = cardsFor(other, 'ask_human').first();
  await expect(seen).toContainText('Which gate is to be opened?');
  await expect(seen).toContainText('由操作员或管理员回答此问题。');
  await expect(seen.getByRole('radio')).toHaveCount(0);

  await page.setViewportSize({ width: 360, height: 780 });
  await page.getByRole('tab', { name: /Live/ }).click();
  const group = card.getByRole('group', { name: 'Which gate is to be opened?' });
  await expect(group.getByRole('radio')).toHaveCount(2);
  await page.screenshot({ path: testInfo.outputPath('question-360.png') });
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.screenshot({ path: testInfo.outputPath('question-360-dark.png') });
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.screenshot({ path: testInfo.outputPath('question-dark.png') });

  await card.focus();
  await page.keyboard.press('a');
  await expect(group.getByRole('radio').first()).toBeFocused();
  await page.keyboard.press('ArrowDown');
  await expect(card.getByRole('radio', { name: 'The south gate' })).toBeChecked();
  await page.keyboard.press('Tab');
  await expect(card.getByRole('button', { name: 'Answer' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(card).toHaveAttribute('data-status', 'SUCCESS');
  await expect(card.getByTestId('decided-by')).toHaveText('Answered by operator');
  await expect(seen.getByTestId('decided-by')).toHaveText('已由 operator 回答');
  await expect(conversation(page)).toContainText(
    'So it is: {"answer":"south","answered_by":"person"}',
  );
  await expect(page.getByTestId('waits-for-person')).toBeHidden();
  await page.screenshot({ path: testInfo.outputPath('answered.png') });
  await other.close();
});
