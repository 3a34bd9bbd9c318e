// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Badge, createBadge } from './badge.ts';

let badge: Badge;
beforeEach(() => {
  document.body.innerHTML = '<button id="own">Buy</button>';
  document.documentElement.lang = 'en';
  badge = createBadge(document);
});
afterEach(() => {
  document.body.innerHTML = '';
});

const call = { tool: 'cart.add', caller: 'agent:ci', server: 'board.example', stop: () => {} };
const root = () => {
  const found = document.querySelector('callboard-badge')?.shadowRoot;
  if (!found) throw new Error('the page has no badge');
  return found;
};
const panel = () => root().querySelector('section');
const rows = () => [...root().querySelectorAll('li span')].map((row) => row.textContent);
const buttons = () => [...root().querySelectorAll('button')];
const status = () => root().querySelector('[role=status]')?.textContent;

test('[BA1] nothing of it is in the page before a call, and nothing is shown after the last', () => {
  expect(document.querySelector('callboard-badge')).toBeNull();
  const hide = badge.show(call);
  const hideOther = badge.show({ ...call, tool: 'cart.pay' });
  expect(rows()).toEqual(['The agent ci is using cart.add', 'The agent ci is using cart.pay']);
  hide();
  expect(rows()).toEqual(['The agent ci is using cart.pay']);
  expect(panel()?.hidden).toBe(false);
  hideOther();
  expect(panel()?.hidden).toBe(true);
});

test('[BA1] a page that has emptied its body has it again with the next call', () => {
  badge.show(call)();
  document.body.innerHTML = '';
  badge.show(call);
  expect(rows()).toHaveLength(1);
});

test.each([
  ['en', 'agent:ci', 'The agent ci is using cart.add', 'Stop'],
  ['en-GB', 'operator', 'An operator is using cart.add', 'Stop'],
  ['de', 'operator:anna', 'anna is using cart.add', 'Stop'],
  ['', 'run:run_1', 'The agent is using cart.add', 'Stop'],
  ['en', 'device:client_1', 'The device client_1 is using cart.add', 'Stop'],
  ['en', undefined, 'Callboard at board.example is using cart.add', 'Stop'],
  ['en', 'later:kind', 'Callboard at board.example is using cart.add', 'Stop'],
  ['zh-CN', 'agent:ci', '智能体 ci 正在使用 cart.add', '停止'],
  ['zh', 'run:run_1', '智能体正在使用 cart.add', '停止'],
])('[BA2] in %j the caller %s is shown as %j', (language, caller, sentence, stop) => {
  document.documentElement.lang = language;
  badge.show({ ...call, caller });
  expect(rows()).toEqual([sentence]);
  expect(buttons().map((button) => button.textContent)).toEqual([stop]);
});

test('[BA2] a name is text, whatever is in it', () => {
  badge.show({ ...call, tool: '<img src=x>', caller: 'agent:<b>x</b>' });
  expect(root().querySelectorAll('img, b')).toHaveLength(0);
});

test('[BA3] what runs, and what was stopped, is announced', async () => {
  const hide = badge.show(call);
  expect(status()).toBe('');
  await expect.poll(status).toBe('The agent ci is using cart.add');
  buttons()[0]?.click();
  hide();
  await expect.poll(status).toBe('cart.add was stopped');
  badge.show(call)();
  await expect.poll(status).toBe('');
});
