import { expect, test } from 'vitest';
import { chooseResultView } from './choose-result-view.ts';

const kindOf = (value: unknown) => chooseResultView(value).kind;

test.each<[unknown, string]>([
  ['', 'text'],
  ['plain', 'text'],
  [0, 'scalar'],
  [false, 'scalar'],
  [null, 'scalar'],
  [[], 'json'],
  [{}, 'json'],
  [{ latitude: 31.2, longitude: 121.4, accuracy: 12 }, 'position'],
  [{ coords: { latitude: 31.2, longitude: 121.4, accuracy: 12 } }, 'position'],
  [{ latitude: 931, longitude: 0, accuracy: 1 }, 'facts'],
  [
    [
      { a: 1, b: 'x' },
      { a: 2, c: null },
    ],
    'table',
  ],
  [[{ a: { deep: 1 } }], 'json'],
  [[1, 2], 'json'],
  [{ columns: ['n'], rows: [[1], [2]] }, 'table'],
  [{ columns: ['n'], rows: [{ n: 1 }] }, 'table'],
  [{ columns: [{ name: 'n' }], rows: [] }, 'table'],
  [{ location: 'Bern', temperature_c: 21, humidity_percent: 40 }, 'weather'],
  [{ platform: 'Linux', screen: { width: 1440, height: 900 }, languages: ['en'] }, 'facts'],
  [{ deep: { deeper: { deepest: 1 } } }, 'json'],
  [{ text: 'x'.repeat(500) }, 'json'],
])('[CD10] %j is shown as %s', (value, kind) => {
  expect(kindOf(value)).toBe(kind);
});

test('[CD11] only a missing result is shown as nothing', () => {
  expect(kindOf(undefined)).toBe('nothing');
  for (const value of [null, 0, false, '', [], {}]) expect(kindOf(value)).not.toBe('nothing');
});

test('[CD10] a table has every column that any row has, and cells in their order', () => {
  const view = chooseResultView([{ a: 1 }, { b: 2, a: 3 }]);
  expect(view).toMatchObject({
    table: {
      columns: ['a', 'b'],
      rows: [
        [1, undefined],
        [3, 2],
      ],
    },
  });
});

test('[CD10] facts of one level down carry both names', () => {
  const view = chooseResultView({ screen: { width: 1440 }, online: true });
  expect(view).toMatchObject({
    facts: [
      { name: 'screen.width', value: 1440 },
      { name: 'online', value: true },
    ],
  });
});

test('[CD10] the weather of today comes with its forecast as a table', () => {
  const view = chooseResultView({
    place: 'Lisbon, Portugal',
    latitude: 38.7,
    longitude: -9.1,
    temperature_c: 17.4,
    feels_like_c: 16.9,
    condition: 'partly cloudy',
    humidity_percent: 70,
    wind_kmh: 12,
    forecast: [{ date: '2026-11-21', max_c: 18 }],
  });
  expect(view).toMatchObject({
    kind: 'weather',
    weather: {
      place: 'Lisbon, Portugal',
      temperature: '17.4 °C',
      feelsLike: '16.9 °C',
      humidity: '70 %',
      wind: '12 km/h',
      forecast: { columns: ['date', 'max_c'], rows: [['2026-11-21', 18]] },
    },
  });
});
