import { expect, test } from 'vitest';
import { catalogue } from '../i18n/catalogue.ts';
import en from '../i18n/messages/device/en.json';
import zh from '../i18n/messages/device/zh.json';
import { createBrowserTools, groupedBrowserTools, PHONE_TOOLS } from './browser-tools.ts';
import { everyPart, everyPrompt } from './testing/every-part.ts';

const all = groupedBrowserTools(everyPart, everyPrompt);
const names = all.map(({ tool }) => tool.name);

test('[BT70] the tools come by group, each once, and in the same order when some are missing', () => {
  expect(new Set(names).size).toBe(22);
  expect([...new Set(all.map(({ group }) => group))]).toEqual([
    ...['page', 'person', 'place', 'media', 'data', 'device'],
  ]);
  const some = createBrowserTools({ ...everyPart, camera: null, voice: null }, everyPrompt);
  const left = names.filter((name) => !name.startsWith('camera.') && name !== 'speech.say');
  expect(some.map(({ name }) => name)).toEqual(left);
});

test('[BT1] a page that cannot show a question does not offer display.show', () => {
  const { ask } = everyPrompt;
  const offered = createBrowserTools(everyPart, { ask }).map(({ name }) => name);
  expect(offered).toEqual(names.filter((name) => name !== 'display.show'));
});

test('[BT70] each tool and each group has a name for people in both languages', () => {
  const keys = names.map((name) => name.replaceAll('.', '_')).toSorted();
  for (const { browserTools } of [catalogue.en, catalogue.zh]) {
    expect(Object.keys(browserTools.names).toSorted()).toEqual(keys);
    expect(Object.keys(browserTools.groups)).toEqual([...new Set(all.map(({ group }) => group))]);
  }
});

test('[DP31] each tool is described for the person of the device in both languages', () => {
  const keys = names.map((name) => name.replaceAll('.', '_')).toSorted();
  for (const { about } of [en, zh]) expect(Object.keys(about).toSorted()).toEqual(keys);
  expect(Object.values(zh.about).filter((text) => !/\p{Script=Han}/u.test(text))).toEqual([]);
});

test('[BT70] what the workbench leaves out are tools of this list', () => {
  expect([...PHONE_TOOLS].filter((name) => !names.includes(name))).toEqual([]);
});

test.each(all.map(({ tool }) => [tool.name, tool] as const))(
  '[BT7] %s describes itself and its arguments, and has honest hints and a limit of time',
  (_name, { description, displayName, parameters, annotations, timeoutMs }) => {
    expect(description.length).toBeGreaterThan(30);
    expect(displayName).toBeTruthy();
    expect(annotations?.openWorldHint).toBeDefined();
    expect(annotations?.readOnlyHint === true || annotations?.destructiveHint !== undefined).toBe(
      true,
    );
    expect(timeoutMs).toBeGreaterThanOrEqual(5_000);
    for (const argument of Object.values(parameters.properties ?? {}))
      expect(argument).toHaveProperty('description', expect.stringMatching(/.{8,}/));
  },
);
