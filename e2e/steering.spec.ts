import { reader } from './contract/kit/tool-client.ts';
import { expect, held, test } from './support/scripted-run.ts';
import { composer, conversation, say, signIn, untilReady } from './support/workbench.ts';

test('a message while a tool runs waits until the next step reads it', async ({
  page,
  startScripted,
  connect,
}) => {
  const pause = held();
  const { board, openai } = await startScripted('chat', ({ index }) =>
    index === 0
      ? { calls: [{ name: 'slow_one', args: {} }] }
      : { text: 'I have read it.', stall: { at: 0, until: pause.until } },
  );
  const program = await connect.client(board, { tools: [reader('slow.one')] });
  await signIn(page, board);
  await untilReady(page);
  await say(page, 'Do it slowly');
  const request = await program.request();
  await say(page, 'In red, please');
  const chip = page.getByText('Your message is read at the next step');
  await expect(chip).toBeVisible();
  program.succeed(request.id, 'done');
  await expect.poll(() => openai.requests.length).toBe(2);
  await expect(chip).toBeHidden();
  expect(JSON.stringify(openai.requests[1]?.body.messages)).toContain('In red, please');
  pause.release();
  await expect(conversation(page)).toContainText('I have read it.');
});

test('after the limit of steps Continue goes on, and an edited message replaces the rest', async ({
  page,
  startScripted,
}) => {
  const { board, openai } = await startScripted('chat', ({ index, toolNames }) => {
    if (index > 10) return { text: 'All is done.' };
    if (toolNames.length === 0) return { text: 'I was stopped by the limit.' };
    return { calls: [{ name: 'calculation_eval', args: { expression: `1+${index}` } }] };
  });
  await signIn(page, board);
  await untilReady(page);
  await say(page, 'Count');
  await expect(conversation(page)).toContainText('I was stopped by the limit.');
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(conversation(page)).toContainText('All is done.');
  expect(openai.requests).toHaveLength(12);
  await expect(composer(page)).toBeVisible();

  await page.getByRole('button', { name: 'Edit this message' }).last().click();
  await page.getByLabel('Edited message').fill('Count again');
  await page.keyboard.press('Control+Enter');
  await expect(page.getByTestId('replaced')).toContainText('replaced messages');
  await expect.poll(() => openai.requests.length).toBe(13);
  expect(JSON.stringify(openai.requests[12]?.body.messages)).not.toContain('All is done.');
});

test('a message that was queued when the run was stopped is marked as not read', async ({
  page,
  startScripted,
  connect,
}) => {
  const { board, openai } = await startScripted('chat', ({ index }) =>
    index === 0 ? { calls: [{ name: 'slow_one', args: {} }] } : { text: 'I have read it.' },
  );
  const program = await connect.client(board, { tools: [reader('slow.one')] });
  await signIn(page, board);
  await untilReady(page);
  await say(page, 'Do it slowly');
  await program.request();
  await say(page, 'In red, please');
  await expect(page.getByText('Your message is read at the next step')).toBeVisible();
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await expect(page.getByTestId('unread')).toHaveCount(1);
  await expect(page.getByTestId('notice')).toHaveCount(1);
  await page.getByRole('button', { name: 'Put it back into the message field' }).click();
  await expect(composer(page)).toHaveValue('In red, please');
  await expect(composer(page)).toBeFocused();
  await composer(page).press('Enter');
  await expect(conversation(page)).toContainText('I have read it.');
  await expect(page.getByTestId('unread')).toHaveCount(0);
  expect(openai.requests).toHaveLength(2);
});
