// @vitest-environment happy-dom
import { cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { beforeEach, expect, test, vi } from 'vitest';
import { PICTURE_NOTES } from '#lib/browser-tools/screenshot-tool';
import type { Attachment } from '#lib/protocol/attachment';
import { keepSessionKey } from '../providers/page-session.ts';
import { createTestWorkbench, renderIn } from '../tool-call/testing/in-workbench.tsx';
import type { Whole } from './part-note.tsx';
import { ResultView } from './result-view.tsx';

beforeEach(() => void stubBlobs(() => Promise.reject(new Error('not asked for here'))));
function show(value: unknown, attachments: readonly Attachment[] = [], whole?: Whole) {
  const { workbench } = createTestWorkbench();
  renderIn(
    workbench,
    <ResultView
      value={value}
      attachments={attachments}
      name="some.tool"
      blobUrl={(id) => `/v1/blobs/${id}`}
      whole={whole}
    />,
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

test('[RV6] a table of any length is drawn a part at a time, and every row can be reached', () => {
  const result = show(Array.from({ length: 25_050 }, (_, index) => ({ index })));
  const cells = () =>
    within(result)
      .getAllByRole('cell')
      .map((cell) => cell.textContent);
  expect(within(result).getAllByRole('row')).toHaveLength(101);
  expect(result.textContent).toContain('Rows 1 to 100 of 25,050');
  fireEvent.click(screen.getByRole('button', { name: 'Next part' }));
  expect(cells()[0]).toBe('100');
  fireEvent.change(screen.getByRole('spinbutton', { name: 'Part' }), { target: { value: '9999' } });
  expect(cells()).toHaveLength(50);
  expect(cells().at(-1)).toBe('25049');
});

test('[RV6] a wide table has fewer rows at once', () => {
  const columns = Array.from({ length: 60 }, (_, n) => `c${n}`);
  const result = show({ columns, rows: Array.from({ length: 200 }, () => columns.map(() => 1)) });
  expect(within(result).getAllByRole('cell').length).toBeLessThanOrEqual(500);
  expect(result.textContent).toContain('First 50 of 60 columns');
});

test('[RV6] rows that have nothing in common are not a table with millions of empty cells', () => {
  const result = show(Array.from({ length: 2_000 }, (_, n) => ({ [`key ${n}`]: n })));
  expect(result.dataset.resultKind).toBe('json');
});

test('[RV6] a text of any length is drawn a part at a time, between characters', () => {
  const text = `${'a'.repeat(9_999)}👩 ${'b'.repeat(15_000)} the end`;
  const result = show(text);
  const shown = () => result.querySelector('pre')?.textContent ?? '';
  expect(shown()).toBe(`${'a'.repeat(9_999)}👩`);
  expect(result.textContent).toContain(
    `Characters 1 to 10,000 of ${text.length.toLocaleString('en')}`,
  );
  const parts = [shown()];
  for (let part = 1; part < 3; part += 1) {
    fireEvent.click(screen.getByRole('button', { name: 'Next part' }));
    parts.push(shown());
  }
  expect(parts.join('')).toBe(text);
  expect(screen.getByRole('button', { name: 'Next part' }).getAttribute('aria-disabled')).toBe(
    'true',
  );
});

test('a position is marked on a map that needs no network, with its numbers beside it', async () => {
  // Fetched with the first position; here before, since a busy machine takes its time.
  await import('./locator-map.tsx');
  const result = show({ latitude: 31.2304, longitude: 121.4737, accuracy: 12 });
  expect(await screen.findByRole('img', { name: /mark at 31.2304, 121.4737/ })).toBeDefined();
  expect(result.textContent).toContain('31.2304, 121.4737');
  expect(result.textContent).toContain('± 12 m');
  const link = screen.getByRole('link', { name: 'Open in OpenStreetMap' });
  expect(link.getAttribute('href')).toContain('mlat=31.2304&mlon=121.4737');
  expect(link.getAttribute('rel')).toContain('noreferrer');
});

test('a picture has its size, its words, and a larger view', async () => {
  const result = show({ mode: 'page', media_type: 'image/png', note: DRAWN }, [
    { blob_id: 'b 1', media_type: 'image/png', size: 84_210, width: 1440, height: 900, alt: 'A' },
  ]);
  const image = screen.getByRole('img', { name: 'A' });
  expect(decodeURIComponent(image.getAttribute('src') ?? ''), 'keeps its place').toContain(
    'width="1440" height="900"',
  );
  expect([image.getAttribute('width'), image.getAttribute('height')]).toEqual(['1440', '900']);
  expect(screen.getByText(/1440 × 900 px · PNG · 84.2 kB/).textContent).toContain('Redrawn');
  expect(result.textContent).not.toContain(DRAWN);
  fireEvent.click(screen.getByRole('button', { name: 'Enlarge: A' }));
  expect(await screen.findByRole('dialog', { name: 'A' })).toBeDefined();
});

test('a file that no browser draws safely is a download, also when it calls itself SVG', async () => {
  keepSessionKey('k-1');
  show(null, [{ blob_id: 'b1', media_type: 'image/svg+xml', size: 10, name: 'logo.svg' }]);
  expect(screen.queryByRole('img')).toBeNull();
  expect(screen.queryByRole('link')).toBeNull();
  const saved: string[] = [];
  vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function click(
    this: HTMLAnchorElement,
  ) {
    saved.push(this.download);
  });
  const { asked } = stubBlobs(async () => new Response('<svg/>'));
  fireEvent.click(screen.getByRole('button', { name: /logo.svg/ }));
  await waitFor(() => expect(saved).toEqual(['logo.svg']));
  expect(asked).toEqual(['/v1/blobs/b1 k-1']);
});

test('a picture is fetched with the key of the sign-in, drawn from memory, and let go of', async () => {
  keepSessionKey('k-1');
  const { asked, urls } = stubBlobs(async () => new Response('bytes'));
  show(null, [{ blob_id: 'b1', media_type: 'image/png', size: 10, alt: 'A' }]);
  const image = screen.getByRole('img', { name: 'A' });
  await waitFor(() => expect(image.getAttribute('src')).toBe('blob:1'));
  expect(asked).toEqual(['/v1/blobs/b1 k-1']);
  expect([...urls]).toEqual(['blob:1']);
  cleanup();
  expect([...urls]).toEqual([]);
});

test('a picture that cannot be had shows its words', async () => {
  stubBlobs(async () => new Response('', { status: 404 }));
  show(null, [{ blob_id: 'b1', media_type: 'image/png', size: 10, alt: 'A' }]);
  const image = screen.getByRole('img', { name: 'A' });
  await waitFor(() => expect(image.hasAttribute('src')).toBe(false));
});

test('a file that cannot be fetched is shown as such', async () => {
  stubBlobs(async () => new Response('', { status: 404 }));
  show(null, [{ blob_id: 'b1', media_type: 'text/plain', size: 10, name: 'a.txt' }]);
  fireEvent.click(screen.getByRole('button', { name: /a.txt/ }));
  expect((await screen.findByRole('alert')).textContent).toBe('It could not be read.');
});

/** What the server answers to requests for bytes, and the addresses that the page made of them. */
function stubBlobs(answer: () => Promise<Response>) {
  const asked: string[] = [];
  const urls = new Set<string>();
  vi.stubGlobal('fetch', (url: string, init: RequestInit) => {
    asked.push(`${url} ${new Headers(init.headers).get('x-callboard-session')}`);
    return answer();
  });
  vi.spyOn(URL, 'createObjectURL').mockImplementation(() => {
    urls.add(`blob:${urls.size + 1}`);
    return `blob:${urls.size}`;
  });
  vi.spyOn(URL, 'revokeObjectURL').mockImplementation((url) => void urls.delete(url));
  return { asked, urls };
}

test('[RV6] a level of a tree is drawn 100 items at a time, and a long text in it by its beginning', () => {
  const value = { list: Array.from({ length: 20_000 }, (_, n) => [n]), html: 'x'.repeat(70_000) };
  const result = show([value]);
  const tree = () => within(screen.getByRole('tree'));
  const count = () => tree().getAllByRole('treeitem').length;
  fireEvent.click(tree().getAllByRole('button', { name: 'Open' })[0] ?? result);
  expect(result.textContent).toContain('x…"');
  expect(result.textContent).toContain('(70,000 characters)');
  expect(result.textContent?.length).toBeLessThan(2_500);
  fireEvent.click(tree().getAllByRole('button', { name: 'Open' })[0] ?? result);
  expect(count()).toBeLessThan(110);
  expect(result.textContent).toContain('Items 1 to 100 of 20,000');
  fireEvent.click(screen.getByRole('button', { name: 'Next part' }));
  expect(count()).toBeLessThan(110);
  expect(tree().getByRole('treeitem', { name: /^199/ })).toBeDefined();
  fireEvent.click(screen.getByRole('button', { name: 'As text' }));
  expect(screen.queryByRole('tree')).toBeNull();
  expect(result.querySelector('pre')?.textContent).toMatch(/^\[\n {2}\{\n {4}"list": \[/);
});

test('[RV7] a beginning is marked as one, with the size of the whole; the file is the whole', () => {
  const asked: string[] = [];
  const whole = {
    bytes: 1_300_000,
    open: () => asked.push('open'),
    download: () => asked.push('download'),
  };
  show('é'.repeat(1_000), [], whole);
  expect(screen.getByTestId('part-note').textContent).toContain('Showing 2 kB of 1.3 MB');
  fireEvent.click(screen.getByRole('button', { name: 'Open whole' }));
  fireEvent.click(screen.getByRole('button', { name: 'Download' }));
  expect(asked).toEqual(['open', 'download']);
});

const picture: Attachment = {
  blob_id: 'b1',
  media_type: 'image/png',
  size: 9_000,
  width: 640,
  height: 480,
  name: 'plate.png',
  alt: 'A number plate',
};
const DRAWN = PICTURE_NOTES.page;
test.each<[string, unknown, boolean]>([
  ['the facts of the picture', { media_type: 'image/png', width: 640, height: 480 }, false],
  [
    'its name and words',
    { media_type: 'image/png', name: 'plate.png', alt: 'A number plate' },
    false,
  ],
  ['which camera it was', { media_type: 'image/png', width: 640, facing: 'user' }, false],
  ['how the page was drawn', { media_type: 'image/png', mode: 'page', note: DRAWN }, false],
  ['more in the note', { media_type: 'image/png', mode: 'page', note: 'ZH 1291' }, true],
  ['the note of another way', { media_type: 'image/png', mode: 'display', note: DRAWN }, true],
  ['what was read off it', { media_type: 'image/png', plate: 'ZH 1291' }, true],
  ['another type', { media_type: 'application/pdf', width: 640 }, true],
  ['another name', { media_type: 'image/png', name: 'other.png' }, true],
  ['a note of another tool', { media_type: 'image/png', note: 'ZH 1291' }, true],
  ['nothing of a picture', { width: 640 }, true],
])('[RV8] beside a picture a result that has %s', (_, value, isShown) => {
  const result = show(value, [picture]);
  expect(result.querySelector('dl') !== null).toBe(isShown);
  expect(screen.getByRole('button', { name: 'Download' })).toBeDefined();
});

test('[RV8] beside a picture of unknown size only a number is taken for its size', () => {
  const { width: _, height: __, ...unmeasured } = picture;
  expect(
    show({ media_type: 'image/png', width: 640 }, [unmeasured]).querySelector('dl'),
  ).toBeNull();
  cleanup();
  const result = show({ media_type: 'image/png', width: 'ZH 1291' }, [unmeasured]);
  expect(result.textContent).toContain('ZH 1291');
});

test('a tree shows hidden characters in keys and values', () => {
  const result = show({ 'a\u200b': { deep: { deeper: ['b\u202e'] } } });
  expect(result.textContent).toContain('a⟨U+200B⟩');
  expect(result.textContent).toContain('b⟨U+202E⟩');
});
