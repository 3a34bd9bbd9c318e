'use client';

import { stripAnsi } from '#lib/format/show-control-characters';
import { MarkedText } from '../ui/marked-text.tsx';
import { Pager } from './pager.tsx';
import { ScrollRegion } from './scroll-region.tsx';
import { useParts } from './use-parts.ts';

/** What a browser lays out in a few milliseconds, however its lines break. */
export const PART_CHARS = 10_000;

/** Text of any length, a part at a time. */
export function PagedText({ text, label }: { text: string; label: string }) {
  const parts = useParts(text.length, PART_CHARS);
  const shown = text.slice(wholeCharacter(text, parts.from), wholeCharacter(text, parts.to));
  return (
    <>
      {/* Each part is read from its beginning. */}
      <ScrollRegion key={parts.part} label={label} className="max-h-96 rounded-md bg-surface2">
        <pre className="mono whitespace-pre-wrap p-2 wrap-anywhere">
          <MarkedText text={stripAnsi(shown)} keepLayout />
        </pre>
      </ScrollRegion>
      <Pager parts={parts} of="chars" />
    </>
  );
}

/** That place, or the next one when it is in the middle of a character. */
function wholeCharacter(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at + 1 : at;
}
