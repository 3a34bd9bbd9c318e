import { expect, test } from 'vitest';
import { createModelTools } from './model-tools.ts';
import { toListing } from './testing/fakes.ts';

const listed = (...names: string[]) =>
  names.map((name) => toListing({ name, run: () => ({ output: 1 }) }));

test('[AL11] a name with dots is offered with underscores and found again', () => {
  const { tools, find, toModelName } = createModelTools(listed('browser.screenshot'), 'openai');
  expect(Object.keys(tools)).toEqual(['browser_screenshot']);
  expect(find('browser_screenshot').toolName).toBe('browser.screenshot');
  expect(toModelName('browser.screenshot')).toBe('browser_screenshot');
});

test('[AL11] two tools of one spelling are both offered and both found, in any order', () => {
  for (const names of [
    ['a.b', 'a_b'],
    ['a_b', 'a.b'],
  ]) {
    const { tools, find, toModelName } = createModelTools(listed(...names), 'openai');
    expect(Object.keys(tools)).toEqual(['a_b', 'a_b_2']);
    for (const name of names) expect(find(toModelName(name)).toolName).toBe(name);
  }
});

test('[AL11] names of 64 characters that collide stay within 64', () => {
  const long = 'x'.repeat(62);
  const { tools } = createModelTools(listed(`${long}.y`, `${long}_y`), 'openai');
  expect(Object.keys(tools).every((name) => name.length <= 64)).toBe(true);
  expect(Object.keys(tools)).toHaveLength(2);
});

test('[AL44] a tool that is gone, or was made up, still has a name an API accepts', () => {
  const { find, toModelName } = createModelTools([], 'openai');
  expect(toModelName('phone.vibrate')).toBe('phone_vibrate');
  expect(toModelName('rm -rf /; 删除')).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  expect(toModelName('')).toBe('_');
  expect(find('made_up').toolName).toBe('made_up');
});

test('[AL11] names of object members are names like others', () => {
  const { find } = createModelTools(listed('toString', 'a.__proto__'), 'openai');
  expect(find('toString').toolName).toBe('toString');
  expect(find('a___proto__').toolName).toBe('a.__proto__');
  expect(find('constructor').toolName).toBe('constructor');
});

test('[AL101] a spelling that fits two offered tools means neither', () => {
  const { find } = createModelTools(listed('demo.echo', 'demoecho', 'other'), 'openai');
  expect(find('demoecho').toolName).toBe('demoecho');
  expect(find('Demo-Echo')).toMatchObject({
    toolName: 'Demo-Echo',
    refusal: { reason: 'not_offered' },
  });
  expect(find('OTHER')).toEqual({ toolName: 'other' });
});

test('[AL105] a name that is cut is cut between characters', () => {
  const { find } = createModelTools([], 'openai');
  expect(find(`${'x'.repeat(127)}🙂y`).toolName.isWellFormed()).toBe(true);
});
