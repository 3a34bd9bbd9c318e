// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen, within } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import type { Attachment } from '#lib/protocol/attachment';
import { createTestWorkbench, InWorkbench } from '../tool-call/testing/in-workbench.tsx';
import { ResultView } from './result-view.tsx';

afterEach(cleanup);

function show(value: unknown, attachments: readonly Attachment[] = []) {
  const { workbench } = createTestWorkbench(() => ({ body: {} }));
  render(
    <InWorkbench workbench={workbench}>
      <ResultView
        value={value}
        attachments={attachments}
        name="some.tool"
        blobUrl={(id) => `/v1/blobs/${id}`}
      />
    </InWorkbench>,
  );
  return screen.getByTestId('result');
}

test('text is text: no HTML, no markdown, no terminal colours, no hidden characters', () => {
  const result = show('<b>bold</b> **strong** \u001b[31mred\u001b[0m a\u202eb\nnext');
  expect(result.querySelector('b, strong')).toBeNull();
  expect(result.textContent).toContain('<b>bold</b> **strong** red a⟨U+202E⟩b\nnext');
});

test('a long text is cut at 2,000 characters until all of it is wanted', () => {
  const result = show('x'.repeat(5_000));
  expect(result.textContent?.match(/x/g)).toHaveLength(2_000);
  fireEvent.click(screen.getByRole('button', { name: 'Show all 5,000 characters' }));
  expect(result.textContent?.match(/x/g)).toHaveLength(5_000);
});

test('rows become a table; the raw JSON is one click away', () => {
  const result = show({
    columns: ['id', 'note'],
    rows: [
      [1, '<i>x</i>'],
      [2, null],
    ],
  });
  const table = within(result).getByRole('table');
  expect(
    within(table)
      .getAllByRole('columnheader')
      .map((cell) => cell.textContent),
  ).toEqual(['id', 'note']);
  expect(
    within(table)
      .getAllByRole('cell')
      .map((cell) => cell.textContent),
  ).toEqual(['1', '<i>x</i>', '2', 'null']);
  fireEvent.click(screen.getByRole('button', { name: 'Raw JSON' }));
  expect(screen.queryByRole('table')).toBeNull();
  expect(screen.getByRole('tree')).toBeDefined();
});

test('of a large table the first 100 rows are drawn, and it says so', () => {
  const result = show(Array.from({ length: 250 }, (_, index) => ({ index })));
  expect(within(result).getAllByRole('row')).toHaveLength(101);
  expect(result.textContent).toContain('First 100 of 250 rows');
});

test('a position is marked on a map that needs no network, with its numbers beside it', async () => {
  const result = show({ latitude: 31.2304, longitude: 121.4737, accuracy: 12 });
  expect(await screen.findByRole('img', { name: /mark at 31.2304, 121.4737/ })).toBeDefined();
  expect(result.textContent).toContain('31.2304, 121.4737');
  expect(result.textContent).toContain('± 12 m');
  const link = screen.getByRole('link', { name: 'Open in OpenStreetMap' });
  expect(link.getAttribute('href')).toContain('mlat=31.2304&mlon=121.4737');
  expect(link.getAttribute('rel')).toContain('noreferrer');
});

test('a picture has its size, its words, and a larger view', async () => {
  const result = show({ mode: 'page', media_type: 'image/png', note: 'said twice' }, [
    { blob_id: 'b 1', media_type: 'image/png', size: 84_210, width: 1440, height: 900, alt: 'A' },
  ]);
  const image = screen.getByRole('img', { name: 'A' });
  expect(image.getAttribute('src')).toBe('/v1/blobs/b 1');
  expect([image.getAttribute('width'), image.getAttribute('height')]).toEqual(['1440', '900']);
  expect(screen.getByText(/1440 × 900 px · PNG · 84.2 kB/).textContent).toContain('Redrawn');
  expect(result.textContent).not.toContain('said twice');
  fireEvent.click(screen.getByRole('button', { name: 'Enlarge: A' }));
  expect(await screen.findByRole('dialog', { name: 'A' })).toBeDefined();
});

test('a file that no browser draws safely is a download, also when it calls itself SVG', () => {
  show(null, [{ blob_id: 'b1', media_type: 'image/svg+xml', size: 10, name: 'logo.svg' }]);
  expect(screen.queryByRole('img')).toBeNull();
  expect(screen.getByRole('link', { name: /logo.svg/ }).getAttribute('download')).toBe('logo.svg');
});

test('a value too large for a tree shows its beginning and can be saved', () => {
  const result = show(Array.from({ length: 4_000 }, (_, index) => [index]));
  expect(screen.queryByRole('tree')).toBeNull();
  expect(result.textContent).toContain('Too large to show whole');
  expect(screen.getByRole('button', { name: 'Download' })).toBeDefined();
});

test('a tree shows hidden characters in keys and values', () => {
  const result = show({ 'a\u200b': { deep: { deeper: ['b\u202e'] } } });
  expect(result.textContent).toContain('a⟨U+200B⟩');
  expect(result.textContent).toContain('b⟨U+202E⟩');
});
