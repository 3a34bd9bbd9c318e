import { join } from 'node:path';
import type { BrowserContextOptions } from 'playwright';
import { expect, test } from 'vitest';
import { openChromium } from '../client/testing/open-chromium.ts';
import { setupTools } from './testing/setup-tools.ts';

/** What a phone has, and Chromium without a screen of its own has not. */
const PHONE_PARTS = `<script>
  // The click of a person, as long as it is handled: a browser would count it a moment longer.
  window.addEventListener('click', () => { window.inClick = window.clicked = true; }, true);
  window.addEventListener('click', () => { window.inClick = false; });
  window.shared = [];
  navigator.vibrate = () => window.clicked === true;
  navigator.share = (data) => {
    if (!window.inClick) return Promise.reject(new DOMException('no touch', 'NotAllowedError'));
    if (data.title === 'closed') return Promise.reject(new DOMException('closed', 'AbortError'));
    window.shared.push(data);
    return Promise.resolve();
  };
  window.SpeechRecognition = class extends EventTarget {
    abort() {}
    start() {
      const result = [{ transcript: window.words, confidence: 0.9 }];
      result.isFinal = true;
      const event = new Event('result');
      event.results = [result];
      queueMicrotask(() => {
        if (window.words) this.dispatchEvent(event);
        this.dispatchEvent(new Event('end'));
      });
    }
  };
  navigator.canShare = (data) => data.text !== 'secret';
  navigator.contacts = {
    getProperties: async () => ['name', 'tel'],
    select: async (wanted, { multiple }) => {
      if (!window.inClick) throw new DOMException('no touch', 'NotAllowedError');
      return window.noContacts ? [] : [{ name: ['Ada'], tel: ['+44 1'], multiple, wanted }];
    },
  };
</script>`;

const chromium = await openChromium(
  join(import.meta.dirname, 'testing/tools-page.ts'),
  `<p>Harbour</p>${PHONE_PARTS}`,
);
const setup = (options?: BrowserContextOptions) => setupTools(chromium, options);

test('[BT60] what a browser permits in a touch alone is done inside it', async () => {
  const { page, callAndClick } = await setup();
  expect(await callAndClick('share.send', { text: 'high tide' })).toMatchObject({
    output: { shared: true },
  });
  expect(await page.evaluate(() => Reflect.get(window, 'shared'))).toEqual([{ text: 'high tide' }]);
  expect(await callAndClick('contacts.pick', {})).toMatchObject({
    output: { contacts: [{ name: ['Ada'], tel: ['+44 1'] }], properties: ['name', 'tel'] },
  });
});

test('[BT60] a person who does not want to, or closes the window, declines', async () => {
  const { page, callAndClick } = await setup();
  const declined = { code: 'declined', error: expect.stringContaining('declined to') };
  expect(await callAndClick('share.send', { text: 'a' }, 'denied')).toMatchObject(declined);
  expect(await callAndClick('share.send', { title: 'closed' })).toMatchObject(declined);
  await page.evaluate(() => Reflect.set(window, 'noContacts', true));
  expect(await callAndClick('contacts.pick', {})).toMatchObject(declined);
});

test('[BT60] a touch that the browser does not count is reported as such', async () => {
  const { page, callAndClick } = await setup();
  await page.evaluate(() => {
    navigator.share = () => Promise.reject(new DOMException('no touch', 'NotAllowedError'));
  });
  expect(await callAndClick('share.send', { text: 'a' })).toMatchObject({
    code: 'needs_person',
    error: expect.stringContaining('only in a touch'),
  });
});

test('share.send refuses what cannot be shared before a person is asked', async () => {
  const { call } = await setup();
  expect(await call('share.send', {})).toMatchObject({ code: 'invalid_args' });
  expect(await call('share.send', { url: 'javascript:alert(1)' })).toMatchObject({
    code: 'invalid_args',
  });
  expect(await call('share.send', { text: 'secret' })).toMatchObject({ code: 'unavailable' });
});

test('[BT66] a page is opened in a window that cannot reach this one', async () => {
  const { page, callAndClick, call } = await setup();
  const opened = page.context().waitForEvent('page');
  const address = `${chromium.url}?other`;
  expect(await callAndClick('page.open', { url: address })).toMatchObject({
    output: { opened: true, url: address },
  });
  const other = await opened;
  await other.waitForURL(address);
  expect(await other.evaluate(() => window.opener)).toBeNull();
  for (const url of ['javascript:alert(1)', 'file:///etc/passwd', 'tel:110', 'nowhere']) {
    expect(await call('page.open', { url }), url).toMatchObject({ code: 'invalid_args' });
  }
});

/** A browser that refuses outside the click, and has no permission to report, as WebKit. */
const STRICT_CLIPBOARD = () => {
  const refused = () => Promise.reject(new DOMException('no touch', 'NotAllowedError'));
  const query = navigator.permissions.query.bind(navigator.permissions);
  navigator.permissions.query = (one) =>
    String(one.name).startsWith('clipboard') && Reflect.get(window, 'isReported') !== true
      ? Promise.reject(new TypeError('unknown'))
      : query(one);
  const { clipboard } = navigator;
  clipboard.readText = () => (Reflect.get(window, 'inClick') ? Promise.resolve('tide') : refused());
};

test('[BT60] where the browser reports a permission and refuses all the same, a touch is asked for', async () => {
  const { page, callAndClick } = await setup({ permissions: ['clipboard-read'] });
  await page.evaluate(STRICT_CLIPBOARD);
  await page.evaluate(() => Reflect.set(window, 'isReported', true));
  expect(await callAndClick('clipboard.read', {})).toMatchObject({ output: { text: 'tide' } });
});

test('[BT60] the window that picks files may not open: the question stays as the way out', async () => {
  const { page, link, begin } = await setup();
  await page.evaluate(() => {
    HTMLInputElement.prototype.click = () => {};
  });
  await begin('file.pick');
  await page.getByRole('button', { name: 'allowed' }).click();
  await page.getByRole('button', { name: 'denied' }).click();
  expect(await link.answer()).toMatchObject({ code: 'declined' });
  await page.waitForFunction(() => document.querySelector('input[type=file]') === null);
});

test('[BT60] the permission for notifications is asked for in a touch, and undecided is no denial', async () => {
  const { page, link, begin, callAndClick } = await setup();
  await page.evaluate(() => {
    let permission = 'default';
    Object.defineProperty(Notification, 'permission', { get: () => permission });
    const query = navigator.permissions.query.bind(navigator.permissions);
    navigator.permissions.query = async (one) =>
      one.name === 'notifications'
        ? ({ state: permission.replace('default', 'prompt') } as PermissionStatus)
        : query(one);
    Notification.requestPermission = async () => {
      // As Firefox does outside a touch.
      if (Reflect.get(window, 'inClick')) permission = Reflect.get(window, 'decided') ?? 'default';
      return permission as NotificationPermission;
    };
  });
  const args = { title: 'Tide' };
  expect(await callAndClick('notification.show', args)).toMatchObject({ code: 'needs_person' });
  await page.evaluate(() => Reflect.set(window, 'decided', 'denied'));
  expect(await callAndClick('notification.show', args)).toMatchObject({
    code: 'permission_denied',
  });
  await begin('notification.show', args);
  expect(await link.answer()).toMatchObject({ code: 'permission_denied' });
});

test('[BT66] a window that the browser blocks is no success', async () => {
  const { page, callAndClick } = await setup();
  await page.evaluate(() => {
    window.open = () => null;
  });
  expect(await callAndClick('page.open', { url: chromium.url })).toMatchObject({
    code: 'unavailable',
    error: expect.stringContaining('blocked'),
  });
});

test('[BT67] the answer to a question is the result', async () => {
  const { page, link, begin, callAndClick } = await setup();
  const question = { title: 'Lunch?', text: 'At noon', buttons: ['Yes', 'No'] };
  expect(await callAndClick('display.show', question, 'No')).toMatchObject({
    output: { answered: true, button: 'No', button_index: 1 },
  });
  await begin('display.show', { ...question, input: true });
  await page.getByRole('textbox').fill('with pleasure');
  await page.getByRole('button', { name: 'Yes' }).click();
  expect(await link.answer()).toMatchObject({
    output: { answered: true, button: 'Yes', text: 'with pleasure' },
  });
  expect(await callAndClick('display.show', question, 'close')).toMatchObject({
    output: { answered: false, closed: true },
  });
});

test.each([
  [{}],
  [{ image: 'data:image/svg+xml;base64,AAAA' }],
  [{ image: 'https://a.example/b.png' }],
])('[BT67] display.show does not take %j', async (args) => {
  const { call } = await setup();
  expect(await call('display.show', args)).toMatchObject({ code: 'invalid_args' });
});

test('[BT68] a browser that speaks only after a touch is given one; without a voice the call fails', async () => {
  const { page, call, callAndClick } = await setup();
  await page.evaluate(() => {
    speechSynthesis.getVoices = () => [];
  });
  expect(await call('speech.say', { text: 'high tide' })).toMatchObject({
    code: 'unavailable',
    error: expect.stringContaining('no voice'),
  });
  await page.evaluate(() => {
    const voice = { name: 'Anna', lang: 'en_GB', default: true };
    speechSynthesis.getVoices = () => [voice] as unknown as SpeechSynthesisVoice[];
    // A voice of the page's own cannot be set on an utterance of the browser.
    Object.defineProperty(SpeechSynthesisUtterance.prototype, 'voice', { set() {} });
    speechSynthesis.speak = (utterance) => {
      const error = new Event('error');
      Reflect.set(error, 'error', 'not-allowed');
      queueMicrotask(() =>
        utterance.dispatchEvent(Reflect.get(window, 'clicked') ? new Event('end') : error),
      );
    };
  });
  expect(await callAndClick('speech.say', { text: 'high tide', language: 'en-US' })).toMatchObject({
    output: { spoken_chars: 9, voice: 'Anna' },
  });
  expect(await call('speech.say', { text: 'a', language: 'zh-CN' })).toMatchObject({
    error: 'This browser has no voice for that language.',
  });
});

test('[BT68] what was recognized is the result, and silence is an error', async () => {
  const { page, call } = await setup({ permissions: ['microphone'] });
  await page.evaluate(() => Reflect.set(window, 'words', 'high tide'));
  expect(await call('speech.listen', { language: 'en-GB' })).toMatchObject({
    output: { text: 'high tide', confidence: 0.9, language: 'en-GB' },
  });
  await page.evaluate(() => Reflect.set(window, 'words', ''));
  expect(await call('speech.listen')).toMatchObject({
    code: 'unavailable',
    error: expect.stringContaining('No words were recognized'),
  });
});

test('[BT69] a pattern of vibration is limited', async () => {
  const { page, call } = await setup();
  await page.mouse.click(5, 5);
  expect(await call('vibrate', { pattern: [200, 100, 200] })).toMatchObject({
    output: { started: true, duration_ms: 500 },
  });
  expect(await call('vibrate', { pattern: [5_000, 1, 5_000] })).toMatchObject({
    code: 'invalid_args',
    error: expect.stringContaining('10001 ms'),
  });
});

test('[BT60] before the first touch of the page vibration asks for one', async () => {
  const { callAndClick } = await setup();
  expect(await callAndClick('vibrate', {})).toMatchObject({ output: { started: true } });
});
