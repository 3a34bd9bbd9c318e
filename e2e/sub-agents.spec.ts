import type { Page } from '@playwright/test';
import type { Script } from '../server/testing/scripted-openai.ts';
import { reader } from './contract/kit/tool-client.ts';
import { expect, test } from './support/scripted-run.ts';
import {
  callIdOf,
  cards,
  cardsFor,
  composer,
  conversation,
  say,
  signIn,
  signInByToken,
} from './support/workbench.ts';

const CONFIG = {
  agents: {
    scout: {
      description: 'Looks at the harbour and opens its gate',
      model: 'openai-chat:scout',
      prompt: 'You are the scout.',
      tools: ['gate.*', 'tide.*'],
    },
  },
  policy: { ask: ['gate.open'] },
};

const BOSS = { model: 'openai-chat:boss', config: CONFIG };

/** The boss delegates, the scout makes two calls, then both answer. */
const script: Script = ({ body, toolResults }) => {
  const isScout = body.model === 'scout';
  if (!isScout && toolResults.length > 0) return { text: 'The gate is open.' };
  if (!isScout) {
    return { calls: [{ name: 'delegate', args: { agent: 'scout', task: 'Open the gate' } }] };
  }
  if (toolResults.length > 0) return { text: 'Scouted: it is open now.' };
  return {
    text: 'I look first.',
    calls: [
      { name: 'tide_read', args: { place: 'Cuxhaven' } },
      { name: 'gate_open', args: {} },
    ],
  };
};

const work = (page: Page) => page.getByRole('button', { name: 'Work of the sub-agent scout' });

test('[CD33] the calls of a sub-agent are cards in the card of its call, with an approval among them', async ({
  page,
  connect,
  startServer,
  startScripted,
}, testInfo) => {
  const { board, env } = await startScripted('chat', script, BOSS);
  const program = await connect.client(board, { tools: ['gate.open', reader('tide.read')] });
  await signIn(page, board);
  await say(page, 'Open the gate');

  const outer = cardsFor(page, 'delegate').first();
  const gate = outer.getByTestId('tool-card').filter({ hasText: 'gate.open' });
  const tide = outer.getByTestId('tool-card').filter({ hasText: 'tide.read' });
  await expect(gate).toHaveAttribute('data-phase', 'approval');
  await expect(outer).toContainText('I look first.');
  await expect(tide).toHaveAttribute('data-status', 'DOING');
  // Each once: in its outer card, and not in the list beside it.
  await expect(cards(page)).toHaveCount(3);
  const first = await program.request();
  program.succeed(first.id, 'high at noon');
  await expect(tide).toHaveAttribute('data-status', 'SUCCESS');
  await page.setViewportSize({ width: 360, height: 780 });
  await page.getByRole('tab', { name: /Live/ }).click();
  await expect(gate).toBeVisible();
  await page.screenshot({ path: testInfo.outputPath('approval-360.png') });
  await gate.getByRole('button', { name: 'Allow once' }).focus();
  await page.keyboard.press('Enter');
  const second = await program.request();
  expect(second.name).toBe('gate.open');
  program.succeed(second.id, 'opened');
  await expect(outer).toHaveAttribute('data-status', 'SUCCESS');
  // It has ended, and is closed until a person opens it.
  await expect(work(page)).toHaveAttribute('aria-expanded', 'false');
  await expect(cards(page)).toHaveCount(1);
  await work(page).focus();
  await page.keyboard.press('Enter');
  await expect(gate).toHaveAttribute('data-status', 'SUCCESS');
  await page.setViewportSize({ width: 1280, height: 800 });
  await expect(conversation(page)).toContainText('The gate is open.');
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.screenshot({ path: testInfo.outputPath('ended-dark.png') });
  // The one conversation that is listed is the person's.
  await page.getByRole('button', { name: 'Conversations' }).click();
  await expect(page.getByRole('menuitem').filter({ hasText: 'Open the gate' })).toHaveCount(1);

  await board.stop();
  const again = await startServer({ env, dataDir: board.dataDir, token: board.token });
  await page.context().clearCookies();
  await signInByToken(page, again);
  await expect(cardsFor(page, 'delegate').first()).toHaveAttribute('data-status', 'SUCCESS');
  await work(page).click();
  await expect(gate).toHaveAttribute('data-status', 'SUCCESS');
  await expect(outer).toContainText('Scouted: it is open now.');
});

test('the run of a sub-agent shows whose work it is, and takes no message', async ({
  page,
  connect,
  startScripted,
}) => {
  const { board } = await startScripted('chat', script, BOSS);
  await connect.client(board, { tools: ['gate.open', 'tide.read'] });
  await signIn(page, board);
  await say(page, 'Open the gate');
  const outer = cardsFor(page, 'delegate').first();
  await expect(outer).toContainText('I look first.');
  const callId = await callIdOf(outer);
  await page.goto(`${board.url}/?run=run_${callId.replace(/^tc_/, '')}`);
  await expect(page.getByRole('heading', { level: 2 }).first()).toHaveText(
    'Sub-agent scout of Open the gate',
  );
  await expect(composer(page)).toHaveCount(0);
  await expect(page.getByText('A sub-agent takes no messages.')).toBeVisible();
  await page.getByRole('link', { name: 'Open the gate' }).click();
  await expect(composer(page)).toBeVisible();
});
