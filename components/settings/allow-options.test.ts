import { expect, test } from 'vitest';
import { allowOptions } from './allow-list.tsx';

const NAMES = ['file.write', 'file.read', 'weather.query', 'a.b.c', 'a.b.d', 'a.e'];
const entries = (chosen: readonly string[] = [], search = '') =>
  allowOptions(NAMES, chosen, search).map(({ entry }) => entry);

test('families of several tools come before the tools, each in the order of names', () => {
  expect(entries()).toEqual(['a.*', 'a.b.*', 'file.*', ...NAMES.toSorted()]);
});

test('what is chosen and not there comes first; no line moves when it is chosen', () => {
  expect(entries(['camera.photo', 'a.e'])).toEqual(['camera.photo', ...entries()]);
  expect(entries(['file.r'], 'file.r')).toEqual(entries([], 'file.r'));
  const [absent] = allowOptions(NAMES, ['camera.photo'], '');
  expect(absent).toMatchObject({ isChosen: true, tools: 0 });
});

test('a family counts the tools that it allows, and marks those as allowed by it', () => {
  const options = allowOptions(NAMES, ['a.*'], '');
  const by = (entry: string) => options.find((one) => one.entry === entry);
  expect(by('a.*')).toEqual({ entry: 'a.*', tools: 3, isChosen: true, family: null });
  expect(by('a.b.c')?.family).toBe('a.*');
  expect(by('a.b.*')?.family).toBe('a.*');
  expect(by('file.read')?.family).toBeNull();
});

test('a search finds by part of a name, and offers what was typed when it can be a tool', () => {
  expect(entries([], 'READ')).toEqual(['file.read', 'READ']);
  expect(entries([], 'weather.*')).toEqual(['weather.*']);
  for (const typed of ['*', 'file*', 'a b', '.a', 'file.**', 'a\u202eb']) {
    expect(entries([], typed)).not.toContain(typed);
  }
});
