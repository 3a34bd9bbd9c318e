import { markUntrusted } from '../lib/text/untrusted.ts';
import { reader } from './contract/kit/tool-client.ts';
import { expect, held, MODELS, test } from './support/scripted-run.ts';
import {
  callIdOf,
  cards,
  cardsFor,
  composer,
  conversation,
  notice,
  say,
  signIn,
  untilReady,
} from './support/workbench.ts';

const APIS = ['responses', 'chat'] as const;
const TEXT = 'The tide is high at noon, and the harbour is open.';

for (const api of APIS) {
  test(`[PO25] arguments that ${MODELS[api]} writes are on the card before the call is complete, and the tool runs once, after a yes`, async ({
    page,
    startScripted,
  }) => {
    const pause = held();
    const { board, openai } = await startScripted(api, ({ index }) =>
      index === 0
        ? {
            calls: [{ name: 'clipboard_write', args: { text: TEXT } }],
            stall: { at: 24, until: pause.until },
          }
        : { text: 'It is on your clipboard.' },
    );
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await signIn(page, board);
    await untilReady(page);
    // The clipboard is the machine's: another test may have left something there.
    await page.evaluate(() => navigator.clipboard.writeText('before'));
    await say(page, 'Copy the tide to my clipboard');

    const card = cardsFor(page, 'clipboard.write');
    await expect(card).toHaveAttribute('data-status', 'WAIT');
    await expect(card).toHaveAttribute('data-phase', 'streaming');
    await expect(card).toContainText('The model is writing the arguments.');
    await expect(card.getByRole('definition')).toHaveText(/^The tide is \w*$/);
    await expect(card).not.toContainText('harbour');
    pause.release();

    // It changes the clipboard, so a person is asked; a yes runs it.
    await expect(card).toHaveAttribute('data-phase', 'approval');
    await expect(card).toContainText(
      'clipboard.write is a client’s tool with effects, and no rule of the policy allows it.',
    );
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('before');
    await card.getByRole('button', { name: 'Allow once' }).click();
    await expect(card).toHaveAttribute('data-status', 'SUCCESS');
    await expect(conversation(page)).toContainText('It is on your clipboard.');
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(TEXT);
    await expect(cards(page)).toHaveCount(1);

    expect(openai.requests.map((request) => request.api)).toEqual([api, api]);
    const [first, second] = openai.requests;
    expect(first?.toolNames).toContain('clipboard_write');
    expect(second?.toolResults).toEqual([
      { id: 'call_1', text: markUntrusted('{"written_chars":50}') },
    ]);
  });
}

test('a picture goes to the Responses API as a picture', async ({ page, startScripted }) => {
  const { board, openai } = await startScripted('responses', ({ index }) =>
    index === 0 ? { calls: [{ name: 'browser_screenshot', args: {} }] } : { text: 'I see it.' },
  );
  await signIn(page, board);
  await untilReady(page);
  await say(page, 'Look at this page');
  await expect(conversation(page)).toContainText('I see it.');
  const [result] = openai.requests[1]?.toolResults ?? [];
  expect(result?.text).toContain('input_image');
  expect(openai.requests[1]?.images).toHaveLength(1);
});

test('Stop ends a hanging stream, and the conversation goes on', async ({
  page,
  startScripted,
}) => {
  const never = held();
  const { board, openai } = await startScripted('responses', ({ index }) =>
    index === 0
      ? { text: 'The tide is high', stall: { at: 8, until: never.until } }
      : { text: 'Here I am again.' },
  );
  await signIn(page, board);
  await untilReady(page);
  await say(page, 'When is high tide?');
  // Its last letter is held back where it may begin a secret, such as this server's token.
  await expect(conversation(page)).toContainText('The tid');
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect(notice(page, 'cancelled')).toContainText('Stopped by operator.');
  await expect(page.getByTestId('run-status')).toBeHidden();
  await say(page, 'And now?');
  await expect(conversation(page)).toContainText('Here I am again.');
  expect(openai.requests).toHaveLength(2);
  never.release();
});

test('a run goes on when its tab is closed, and another tab sees all of it', async ({
  page,
  context,
  startScripted,
  connect,
}) => {
  const pause = held();
  const { board } = await startScripted('chat', ({ index }) =>
    index === 0
      ? { calls: [{ name: 'harbour_look', args: { gate: 2 } }] }
      : { text: 'The gate is open and the ship is in.', stall: { at: 12, until: pause.until } },
  );
  const program = await connect.client(board, { tools: [reader('harbour.look')] });
  await signIn(page, board);
  await untilReady(page);
  await say(page, 'Look at the gate');
  const { id } = await program.request();
  await expect(page).toHaveURL(/\?run=/);
  const address = page.url();
  await page.close();

  program.succeed(id, 'open');
  const other = await context.newPage();
  await other.goto(address);
  await expect(conversation(other)).toContainText('Look at the gate');
  await expect(cardsFor(other, 'harbour.look')).toHaveAttribute('data-status', 'SUCCESS');
  await expect(conversation(other)).toContainText('The gate is');
  await expect(other.getByTestId('run-status')).toContainText('Step 2 of max 10');
  pause.release();
  await expect(conversation(other)).toContainText('the ship is in.');
  await expect(other.getByTestId('run-status')).toBeHidden();
  await expect(composer(other)).toBeEditable();
  expect(await callIdOf(cardsFor(other, 'harbour.look'))).toBe(id);
});
