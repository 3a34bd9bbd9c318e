import sharp from 'sharp';
import { finalCall, invoke } from './contract/kit/calls.ts';
import { expect, test } from './fixtures.ts';
import type { Callboard } from './start-callboard.ts';
import { serveForeignPage } from './support/foreign-page.ts';
import { OTHER_BROWSERS, type OtherPage } from './support/other-browsers.ts';

/** A small client drives these browsers as their makers ship them: WebKit is the engine of each iPhone. */
const CLOCK = { timeout: 20_000 };

/** The button, label or heading with that text, the last where there are several. */
const byText = (text: string): string =>
  `([...document.querySelectorAll('button, label, h1')]
    .filter((one) => one.textContent.trim() === ${JSON.stringify(text)} && !one.disabled &&
      one.ariaDisabled !== 'true').at(-1) ?? null)`;

async function click(page: OtherPage, text: string): Promise<void> {
  await expect.poll(() => page.evaluate(`${byText(text)} !== null`), CLOCK).toBe(true);
  await page.evaluate(`${byText(text)}.scrollIntoView({ block: 'center' })`);
  await page.click(byText(text));
}

const untilShown = (page: OtherPage, text: string | RegExp) =>
  expect.poll(() => page.evaluate("document.body?.innerText ?? ''"), CLOCK).toMatch(text);

const untilOffered = (board: Callboard, tool: string) =>
  expect
    .poll(async () => JSON.stringify((await board.http('GET', '/v1/tools')).body), CLOCK)
    .toContain(`"${tool}"`);

for (const [name, open] of Object.entries(OTHER_BROWSERS)) {
  test.describe(`in ${name}`, () => {
    // Where it is not there and cannot be installed, the launcher has said so in one line.
    test.skip(open === null);
    let page: OtherPage;
    test.beforeEach(async () => {
      if (open) page = await open();
    });
    test.afterEach(() => page.close());

    test('[DP45] [BT60] a phone is paired, and only the tap for a call is a touch', async ({
      callboard: board,
    }) => {
      const { body } = await board.http('POST', '/v1/pairings', {});
      await page.goto(`${board.url}/pair/${(body as { code: string }).code}`);
      await click(page, 'Join');
      await untilShown(page, 'Waiting for a person');
      await letIn(board);
      await click(page, 'Open this device');
      await untilShown(page, /Connected/);
      const write = { text: 'high tide' };
      const first = await invoke(board, 'clipboard.write', write);
      await click(page, 'Allow once');
      expect(await finalCall(board, first)).toMatchObject({ status: 'SUCCEEDED' });

      // The tap on the rule is one of a moment ago: the sheet asks all the same.
      await letRun(page, 'Write the clipboard');
      const second = await invoke(board, 'clipboard.write', write);
      await click(page, 'Put it there');
      expect(await finalCall(board, second)).toMatchObject({ status: 'SUCCEEDED' });

      // Undecided is no denial: the sheet asks before the browser does.
      await letRun(page, 'Notification');
      const third = await invoke(board, 'notification.show', { title: 'Tide' });
      await click(page, 'Decline…');
      await click(page, 'Decline');
      expect((await finalCall(board, third)).error?.message).toContain('declined to be shown');
    });

    test('[BT2] the board shows a call, and its drawing has the card and the pictures', async ({
      callboard: board,
    }) => {
      await page.goto(board.signInUrl);
      await untilShown(page, /This tab offers \d+ tools/);
      const sum = await invoke(board, 'calculation.eval', { expression: '(2+3)*4' });
      await finalCall(board, sum);
      const card = `document.querySelector('[data-call-id="${sum}"][data-testid="tool-card"]')`;
      await expect.poll(() => page.evaluate(`${card}?.innerText ?? ''`), CLOCK).toContain('20');
      await page.evaluate(SHOW_GREEN);
      const shot = await finalCall(board, await invoke(board, 'browser.screenshot'));
      const picture = await pixelsOf(board, shot.attachments[0]?.blob_id ?? '');
      // Pictures that lose detail are near their colours.
      const green = picture(40, 40, 20, 20);
      expect(
        [...green.most.toSpliced(1, 1), 255 - (green.least[1] ?? 0)].every((one) => one < 8),
      ).toBe(true);
      // Within the card of the sum, which lies below that of the picture.
      const live = (await page.evaluate(`(({ x, y }) => ({ x, y }))(
        document.querySelector('#panel-live').getBoundingClientRect())`)) as {
        x: number;
        y: number;
      };
      const { least, most } = picture(live.x + 28, live.y + 170, 120, 160);
      expect(Math.max(...most.map((one, at) => one - (least[at] ?? 0)))).toBeGreaterThan(100);
    });

    test('a page of somebody’s own offers a tool by the tag', async ({ startServer }) => {
      const { board, origin, serve } = await serveForeignPage(startServer);
      const script = `callboard.tool({ name: 'cart.add', description: 'Adds', parameters: { type: 'object' },
        execute: ({ article }) => ({ article, from: location.origin }) });`;
      serve({ script, attributes: 'data-name="Shop"' });
      await page.goto(origin);
      await untilOffered(board, 'cart.add');
      const id = await invoke(board, 'cart.add', { article: 'Tea' });
      expect(await finalCall(board, id)).toMatchObject({
        result: { article: 'Tea', from: origin },
      });
    });
  });
}

/** Lets the tool run without a question of the page's own while that is open. */
async function letRun(page: OtherPage, tool: string): Promise<void> {
  const choice = `[...document.querySelectorAll('fieldset')]
    .find((one) => one.textContent.includes('Rule for ${tool}'))
    .querySelector('input[value="open"]').closest('label')`;
  await page.evaluate(`${choice}.scrollIntoView({ block: 'center' })`);
  await page.click(choice);
}

async function letIn(board: Callboard): Promise<void> {
  const { body } = await board.http('GET', '/v1/pairings');
  const [one] = (body as { pairings: { pairing_id: string }[] }).pairings;
  await board.http('POST', `/v1/pairings/${one?.pairing_id}/decision`, { decision: 'approve' });
}

/** A picture of the page's own making, over the corner of the page. */
const SHOW_GREEN = `(async () => {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 80;
  const context = canvas.getContext('2d');
  context.fillStyle = 'rgb(0, 255, 0)';
  context.fillRect(0, 0, 80, 80);
  const image = new Image();
  image.src = URL.createObjectURL(await new Promise((done) => canvas.toBlob(done)));
  image.style.cssText = 'position:fixed;left:20px;top:20px;width:80px;height:80px;z-index:99';
  document.body.append(image);
  await image.decode();
})()`;

/** The darkest and the lightest of each channel in a part of a stored picture. */
async function pixelsOf(board: Callboard, blob: string) {
  const headers = { authorization: `Bearer ${board.token}` };
  const answer = await fetch(`${board.url}/v1/blobs/${blob}`, { headers });
  const image = sharp(Buffer.from(await answer.arrayBuffer())).removeAlpha();
  const { data, info } = await image.raw().toBuffer({ resolveWithObject: true });
  return (left: number, top: number, width: number, height: number) => {
    const [least, most] = [
      [255, 255, 255],
      [0, 0, 0],
    ] as [number[], number[]];
    for (let y = Math.round(top); y < Math.min(top + height, info.height); y += 1)
      for (let x = Math.round(left); x < Math.min(left + width, info.width); x += 1)
        for (const channel of [0, 1, 2]) {
          const value = data[(y * info.width + x) * info.channels + channel] ?? 0;
          least[channel] = Math.min(least[channel] ?? 255, value);
          most[channel] = Math.max(most[channel] ?? 0, value);
        }
    return { least, most };
  };
}
