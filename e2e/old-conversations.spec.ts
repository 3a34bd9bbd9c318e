import type { Locator, Page } from '@playwright/test';
import { callsPageSchema } from '../lib/protocol/rest.ts';
import { runRecordSchema } from '../lib/protocol/run.ts';
import { createScriptedOpenAI, type Script } from '../server/testing/scripted-openai.ts';
import { get, post } from './contract/kit/ask.ts';
import { expect, test } from './contract/kit/contract-test.ts';
import { type Callboard, startCallboard } from './start-callboard.ts';
import { MODELS } from './support/scripted-run.ts';
import { cardOf, conversation, signInByToken } from './support/workbench.ts';

const TURNS = 2;
const STEPS = 5;
const CALLS_PER_STEP = 30;
const CALLS = TURNS * STEPS * CALLS_PER_STEP;

/** 300 calls of one run, in two turns; the arguments of each are its number. */
const count: Script = ({ index }) => {
  // Each turn ends with a request of its own.
  const turn = Math.floor(index / (STEPS + 1));
  const step = index % (STEPS + 1);
  if (step === STEPS) return { text: `Turn ${turn + 1} is counted.` };
  const first = (turn * STEPS + step) * CALLS_PER_STEP;
  return {
    pieceChars: 10_000,
    calls: Array.from({ length: CALLS_PER_STEP }, (_, at) => ({
      name: 'calculation_eval',
      args: { expression: `${first + at}` },
    })),
  };
};

interface OldConversation {
  readonly board: Callboard;
  readonly runId: string;
  /** Oldest first. */
  readonly callIds: readonly string[];
}

/** A conversation of 300 calls, and its server that was stopped since. No page was ever open. */
async function writeConversation(): Promise<{ board: Callboard; runId: string }> {
  const openai = await createScriptedOpenAI({ script: count });
  const board = await startCallboard({
    env: { OPENAI_BASE_URL: openai.url, OPENAI_API_KEY: 'sk-scripted' },
  });
  const read = async (path: string) => runRecordSchema.parse((await get(board, path)).body);
  const body = { input: 'Count.', model: MODELS.chat };
  const { run_id: runId } = runRecordSchema.parse((await post(board, '/v1/runs', body)).body);
  const path = `/v1/runs/${runId}`;
  for (let turn = 1; turn <= TURNS; turn += 1) {
    if (turn > 1) await post(board, `${path}/messages`, { input: 'Count.' });
    await expect.poll(async () => (await read(path)).status, { timeout: 90_000 }).toBe('idle');
    expect(JSON.stringify((await read(path)).messages)).toContain(`Turn ${turn} is counted.`);
  }
  await board.stop();
  await openai.close();
  return { board, runId };
}

/** Written once: the tests only read it, one after another. */
let old: OldConversation;
test.describe.configure({ mode: 'default' });
test.beforeAll(async () => {
  const { board, runId } = await writeConversation();
  const again = await startCallboard({ dataDir: board.dataDir, token: board.token });
  old = { board: again, runId, callIds: await callsOf(again, runId) };
});
test.afterAll(() => old.board.remove());

async function callsOf(board: Callboard, runId: string): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const more: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const answer = await get(board, `/v1/tool_calls?run_id=${runId}&limit=200${more}`);
    const page = callsPageSchema.parse(answer.body);
    ids.push(...page.tool_calls.map((call) => call.tool_call_id));
    cursor = page.next_cursor;
  }
  return ids.toReversed();
}

const lineOf = (page: Page, callId: string | undefined): Locator =>
  page.locator(`[data-testid="call-line"][data-call-id="${callId}"]`);

test('an old conversation of 300 calls shows all after a restart, by pages', async ({ page }) => {
  const { board, runId, callIds } = old;
  expect(callIds).toHaveLength(CALLS);
  await signInByToken(page, board, `/?run=${runId}`);
  const log = conversation(page);
  await expect(log).toContainText('Turn 2 is counted.');
  await expect(lineOf(page, callIds.at(-1))).toBeVisible();

  // To the beginning: what comes near is fetched, and nothing is called missing.
  const [first] = callIds;
  await log.evaluate((element) => element.scrollTo({ top: 0 }));
  await expect(lineOf(page, first)).toContainText('calculation.eval');
  await expect(lineOf(page, first)).toContainText('Done');
  await expect(log).not.toContainText('no longer');

  // The list goes on to the first call, and a line leads to its card.
  const filter = page.getByRole('combobox', { name: 'Which calls' });
  await filter.selectOption('This conversation');
  const more = page.getByRole('button', { name: 'Load older calls of this conversation' });
  await expect(async () => {
    if (await more.isVisible()) await more.click();
    await expect(page.getByTestId('live-counts')).toContainText(`${CALLS} calls`, { timeout: 500 });
  }).toPass();
  await expect(more).toBeHidden();
  await expect(page.getByRole('list', { name: 'Tool calls, newest first' })).toBeVisible();
  await lineOf(page, first).click();
  const card = cardOf(page, first ?? '');
  await expect(card).toBeFocused();
  await expect(card).toHaveAttribute('data-status', 'SUCCESS');
});

test('the address of an old call leads to its card', async ({ page }) => {
  const { board, callIds } = old;
  const [first = ''] = callIds;
  await signInByToken(page, board);
  // A page of its own: from the workbench only the end of the address would change.
  await page.goto('about:blank');
  await page.goto(`${board.url}/#call=${first}`);
  await expect(cardOf(page, first)).toBeFocused();
});
