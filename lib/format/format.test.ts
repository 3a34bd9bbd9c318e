import { describe, expect, test } from 'vitest';
import {
  formatBytes,
  formatCountdown,
  formatDuration,
  formatRelativeTime,
} from '#lib/format/amounts';
import { jsonPreview, parseArguments } from '#lib/format/json-preview';
import {
  countHidden,
  showControlCharacters,
  stripAnsi,
  textParts,
  visibleJsonText,
} from '#lib/format/show-control-characters';
import { curlCommand } from '#lib/format/snippets';

describe('durations', () => {
  test.each([
    [0, '<1 ms'],
    [0.4, '<1 ms'],
    [1, '1 ms'],
    [812, '812 ms'],
    [1_000, '1.0 s'],
    [3_400, '3.4 s'],
    [125_000, '2m 5s'],
    [3_780_000, '1h 3m'],
  ])('[FM1] %s ms reads as %s', (ms, text) => {
    expect(formatDuration(ms, 'en')).toBe(text);
  });

  test('[FM2] a duration never rounds up into the next unit, and a negative one reads as none', () => {
    expect(formatDuration(999.9, 'en')).toBe('999 ms');
    expect(formatDuration(59_960, 'en')).toBe('59.9 s');
    expect(formatDuration(119_999, 'en')).toBe('1m 59s');
    expect(formatDuration(-5, 'en')).toBe('<1 ms');
  });

  test('[FM4] units follow the locale, and a limit leaves out tenths that are none', () => {
    expect(formatDuration(3_400, 'zh-CN')).toBe('3.4 秒');
    expect(formatDuration(125_000, 'zh-CN')).toBe('2分5秒');
    expect(formatDuration(30_000, 'en', { whole: true })).toBe('30 s');
    expect(formatDuration(2_500, 'en', { whole: true })).toBe('2.5 s');
    expect(formatDuration(0, 'en', { whole: true })).toBe('0 s');
    expect(formatDuration(420, 'en', { fromSeconds: true })).toBe('0.4 s');
  });

  test('[FM3] a countdown shows 0:00 only when nothing is left', () => {
    expect(formatCountdown(1)).toBe('0:01');
    expect(formatCountdown(22_000)).toBe('0:22');
    expect(formatCountdown(599_001)).toBe('10:00');
    expect(formatCountdown(0)).toBe('0:00');
    expect(formatCountdown(-4_000)).toBe('0:00');
  });
});

test('[FM5] sizes count in thousands with at most one decimal', () => {
  expect(formatBytes(0, 'en')).toBe('0 B');
  expect(formatBytes(999, 'en')).toBe('999 B');
  expect(formatBytes(1_234, 'en')).toBe('1.2 kB');
  expect(formatBytes(999_990, 'en')).toBe('1 MB');
  expect(formatBytes(8_400_000, 'en')).toBe('8.4 MB');
});

test('[FM6] a near moment is now, a farther one the largest unit that has passed', () => {
  expect(formatRelativeTime(0, 9_000, 'en')).toBe('now');
  expect(formatRelativeTime(0, 59_000, 'en')).toBe('59 seconds ago');
  expect(formatRelativeTime(0, 119_000, 'en')).toBe('1 minute ago');
  expect(formatRelativeTime(7_200_000, 0, 'en')).toBe('in 2 hours');
  expect(formatRelativeTime(0, 59_000, 'zh-CN')).toBe('59秒钟前');
});

describe('hidden characters', () => {
  test('[FM7] what hides or reorders text is shown as a symbol', () => {
    expect(showControlCharacters('a\u0000b\u001b[2J\u007f')).toBe('a␀b␛[2J␡');
    expect(showControlCharacters('invoice\u202efdp.exe')).toBe('invoice⟨U+202E⟩fdp.exe');
    expect(showControlCharacters('pass\u200bword\ufeff')).toBe('pass⟨U+200B⟩word⟨U+FEFF⟩');
    expect(showControlCharacters('中文 naïve 🙂')).toBe('中文 naïve 🙂');
  });

  test('[FM7] line breaks and tabs stay where text keeps its layout', () => {
    expect(showControlCharacters('a\n\tb')).toBe('a␊␉b');
    expect(showControlCharacters('a\n\tb\r', { keepLayout: true })).toBe('a\n\tb␍');
  });

  test.each([
    ['tags', 'pay\u{e0041}\u{e007f}me', 'pay⟨U+E0041⟩⟨U+E007F⟩me'],
    [
      'variation selectors',
      'a\ufe00\ufe0f\u{e0100}\u{e01ef}',
      'a⟨U+FE00⟩⟨U+FE0F⟩⟨U+E0100⟩⟨U+E01EF⟩',
    ],
    [
      'blanks that pass for a letter',
      '\u3164\u2800\uffa0\u115f',
      '⟨U+3164⟩⟨U+2800⟩⟨U+FFA0⟩⟨U+115F⟩',
    ],
    ['joiners that join nothing', 'a\u200db\u034fc\u00ad', 'a⟨U+200D⟩b⟨U+034F⟩c⟨U+00AD⟩'],
    ['deprecated controls', '1\u206a2\u206f', '1⟨U+206A⟩2⟨U+206F⟩'],
    ['halves of a character', 'a\ud800b', 'a⟨U+D800⟩b'],
  ])('[FM7] %s are shown', (_name, text, shown) => {
    expect(showControlCharacters(text)).toBe(shown);
  });

  test.each([
    '👩‍👩‍👧‍👦',
    '❤️',
    '☎︎',
    '👍🏽',
    '🧑🏽‍🚀',
    '1️⃣',
    '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}',
    '🇨🇭',
  ])('[FM13] the emoji %s is drawn as itself', (emoji) => {
    expect(showControlCharacters(`a ${emoji} b`)).toBe(`a ${emoji} b`);
  });

  test.each([
    ['a selector that another follows', '❤\ufe0f\ufe0f', '❤⟨U+FE0F⟩⟨U+FE0F⟩'],
    ['bytes in selectors after an emoji', '😀\u{e0101}\u{e0155}', '😀⟨U+E0101⟩⟨U+E0155⟩'],
    ['a joiner with an emoji on one side only', '😀\u200da', '😀⟨U+200D⟩a'],
    ['a selector of a digit that is no key', '1\ufe0f2', '1⟨U+FE0F⟩2'],
    ['tags that make no flag', '🏴\u{e0061}\u{e0062}\u{e007f}', '🏴⟨U+E0061⟩⟨U+E0062⟩⟨U+E007F⟩'],
  ])('[FM13] %s is a mark', (_name, text, shown) => {
    expect(showControlCharacters(text)).toBe(shown);
  });

  test('[FM7] a mark is apart from a text that spells it', () => {
    expect(textParts('⟨U+200B⟩\u200b')).toEqual([
      { text: '⟨U+200B⟩', hidden: [] },
      { text: '⟨U+200B⟩', hidden: [0x200b] },
    ]);
    expect(countHidden('a\n\t⟨U+200B⟩\u{e0041}\u{e0042}')).toBe(2);
  });

  test('[FM14] JSON to edit writes them as escapes and reads back the same', () => {
    const value = { 'na\u200bme': ['\u{e0041}', '❤️', 'a\nb', '\u0085'] };
    const text = visibleJsonText(value);
    expect(text).toContain('na\\u200bme');
    expect(text).toContain('"\\udb40\\udc41"');
    expect(countHidden(text)).toBe(0);
    expect(JSON.parse(text)).toEqual(value);
  });

  test('[FM9] terminal sequences go, their text stays', () => {
    expect(stripAnsi('\u001b[1;31merror\u001b[0m: no\u001b[2K')).toBe('error: no');
    expect(stripAnsi('\u001b]8;;https://x\u0007link\u001b]8;;\u001b\\')).toBe('link');
    expect(stripAnsi('[not a sequence]')).toBe('[not a sequence]');
  });
});

describe('previews of values', () => {
  test('[FM8] a preview is JSON on one line', () => {
    expect(jsonPreview({ facing: 'environment', n: [1, null, true] }, 80)).toBe(
      '{ "facing": "environment", "n": [1, null, true] }',
    );
    expect(jsonPreview('a\nb', 80)).toBe('"a\\nb"');
    expect(jsonPreview(undefined, 80)).toBe('undefined');
    expect(jsonPreview({}, 80)).toBe('{}');
  });

  test('[FM8] it is never longer than asked, hidden characters included', () => {
    expect(jsonPreview('x'.repeat(500), 20)).toHaveLength(20);
    expect(jsonPreview('\u202e'.repeat(30), 20)).toHaveLength(20);
  });

  test('[FM8] it reads no more of the value than it shows', () => {
    const watched = Array.from({ length: 100 }, () => ({}));
    Object.defineProperty(watched, 99, {
      get: () => {
        throw new Error('read past the end of the line');
      },
    });
    expect(jsonPreview(watched, 20)).toMatch(/…$/);
  });
});

test('[FM11] a curl command survives quotes in its values and carries no token', () => {
  const command = curlCommand({
    origin: 'http://127.0.0.1:3000',
    tool: 'file.read',
    runId: 'run_1',
    args: { path: "it's $HOME" },
    client: 'phone',
  });
  expect(command).toContain("'http://127.0.0.1:3000/v1/tools/file.read/invoke'");
  expect(command).toContain('"Authorization: Bearer $CALLBOARD_TOKEN"');
  expect(command).toContain(
    `-d '{"run_id":"run_1","args":{"path":"it'\\''s $HOME"},"client":"phone"}'`,
  );
});

test('[FM12] typed arguments are one JSON object; nothing typed is none', () => {
  expect(parseArguments('{"a": 1}')).toEqual({ ok: true, args: { a: 1 } });
  expect(parseArguments('  ')).toEqual({ ok: true, args: {} });
  expect(parseArguments('[1]')).toMatchObject({ ok: false, problem: 'not_object' });
  expect(parseArguments('null')).toMatchObject({ ok: false, problem: 'not_object' });
  expect(parseArguments('{a}')).toMatchObject({ ok: false, problem: 'not_json' });
});
