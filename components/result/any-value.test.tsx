// @vitest-environment happy-dom
import { cleanup, fireEvent, screen } from '@testing-library/react';
import fc from 'fast-check';
import type { ReactNode } from 'react';
import { describe, expect, test } from 'vitest';
import { hostileJson, hostileRecord, KNOWN_HOSTILE } from '../testing/hostile-json.ts';
import { PartialParams } from '../tool-call/partial-params.tsx';
import { createTestWorkbench, renderIn } from '../tool-call/testing/in-workbench.tsx';
import { JsonTree } from './json-tree.tsx';
import { FactsView, ResultView } from './result-view.tsx';
import { TableView } from './table-view.tsx';

const result = (value: unknown) => (
  <ResultView value={value} attachments={[]} name="some.tool" blobUrl={(id) => `/v1/blobs/${id}`} />
);

/** What is on the page once it is drawn. What is not caught on the way fails the test. */
function wordsOf(view: ReactNode): string {
  const { workbench } = createTestWorkbench();
  const { container, unmount } = renderIn(workbench, view);
  const words = container.textContent ?? '';
  unmount();
  return words;
}

const VIEWERS: readonly [string, (value: unknown) => ReactNode][] = [
  ['the result', result],
  ['the tree', (value) => <JsonTree value={value} label="Tree" />],
  ['a cell', (value) => <TableView table={{ columns: ['toString'], rows: [[value]] }} />],
  ['a fact', (value) => <FactsView facts={[{ name: 'length', value }]} />],
  ['arguments', (value) => <PartialParams params={{ length: value }} isWriting={false} />],
];

describe('[RV1] any JSON value is drawn as data', () => {
  test.each(VIEWERS)('by %s, whatever it holds', (_name, view) => {
    fc.assert(
      fc.property(hostileJson, (value) => {
        expect(wordsOf(view(value))).not.toContain('[object Object]');
      }),
      { numRuns: 60, examples: KNOWN_HOSTILE.map((value) => [value]) },
    );
  });

  test('and as raw JSON, too', () => {
    fc.assert(
      fc.property(hostileRecord, (value) => {
        const { workbench } = createTestWorkbench();
        renderIn(workbench, result(value));
        const raw = screen.queryByRole('button', { name: 'Raw JSON' });
        if (raw) fireEvent.click(raw);
        expect(screen.getByTestId('result').textContent).not.toContain('This view failed');
        cleanup();
      }),
      { numRuns: 40 },
    );
  });
});

test('[RV2] a name that every object has is not a field of a row that does not hold it', () => {
  const value: unknown = JSON.parse('{"columns":["toString","__proto__"],"rows":[{"a":1}]}');
  expect(wordsOf(result(value))).not.toMatch(/native code|\{\}/);
});
