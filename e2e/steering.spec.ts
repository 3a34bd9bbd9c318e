import { reader } from './contract/kit/tool-client.ts';
import { expect, held, test } from './support/scripted-run.ts';
import { conversation, say, signIn, untilReady } from './support/workbench.ts';

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
