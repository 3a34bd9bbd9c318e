'use client';

import { jsonLine } from '#lib/format/json-preview';
import { isSmallJson } from '#lib/json/measure-json';
import { MarkedText } from '../ui/marked-text.tsx';
import { JsonNodes } from './json-nodes.tsx';
import { PagedText } from './paged-text.tsx';
import { ScrollRegion } from './scroll-region.tsx';

const LINE_CHARS = 4_000;
/** Values with up to so many rows are open from the start. */
const OPEN = { maxNodes: 60, maxBytes: 20_000 };

/** Any JSON as a tree. However large it is, a level is drawn a part at a time. */
export function JsonTree({ value, label }: { value: unknown; label: string }) {
  if (typeof value === 'string' && value.length > LINE_CHARS) {
    return <PagedText text={JSON.stringify(value)} label={label} />;
  }
  if (typeof value !== 'object' || value === null) {
    return (
      <code className="mono wrap-anywhere">
        <MarkedText text={jsonLine(value, LINE_CHARS * 6)} />
      </code>
    );
  }
  const isOpen = isSmallJson(value, OPEN);
  return (
    <ScrollRegion label={label} className="max-h-96 rounded-md bg-surface2 p-2">
      <JsonNodes value={value} isOpen={isOpen} label={label} />
    </ScrollRegion>
  );
}
