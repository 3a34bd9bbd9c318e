'use client';

import { useTranslations } from 'next-intl';
import { jsonLine } from '#lib/format/json-preview';
import { MarkedText } from '../ui/marked-text.tsx';
import type { Table } from './choose-result-view.ts';
import { Pager } from './pager.tsx';
import { ScrollRegion } from './scroll-region.tsx';
import { useParts } from './use-parts.ts';

const PART_ROWS = 100;
const PART_CELLS = 500;
const MAX_COLUMNS = 50;
const MAX_CELL_CHARS = 200;

/** Rows with the same fields, a part at a time. Of many columns the first; the raw JSON and the download have all. */
export function TableView({ table }: { table: Table }) {
  const t = useTranslations('card.result');
  const columns = table.columns.slice(0, MAX_COLUMNS);
  const rowsAtOnce = Math.min(PART_ROWS, Math.floor(PART_CELLS / columns.length));
  const parts = useParts(table.rows.length, rowsAtOnce);
  const rows = table.rows.slice(parts.from, parts.to);
  return (
    <>
      {/* Each part is read from its beginning. */}
      <ScrollRegion
        key={parts.part}
        label={t('table')}
        className="max-h-80 rounded-md border border-line"
      >
        <table className="w-full border-collapse text-left text-[13px]">
          <thead className="sticky top-0 bg-surface2">
            <tr>
              {keyed(columns).map(([key, name]) => (
                <th
                  key={key}
                  scope="col"
                  className="mono whitespace-nowrap px-2 py-1 font-semibold"
                >
                  <MarkedText text={name} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {keyed(rows).map(([key, row]) => (
              <tr key={key} className="border-t border-line">
                {keyed(columns).map(([cell], column) => (
                  <Cell key={cell} value={row[column]} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
      <Pager parts={parts} of="rows" />
      {columns.length < table.columns.length && (
        <p className="mt-1 text-xs text-muted">
          {t('columns', { shown: columns.length, count: table.columns.length })}
        </p>
      )}
    </>
  );
}

/** Rows and columns never change places, and two columns may have one name. */
const keyed = <T,>(list: readonly T[]): [string, T][] =>
  list.map((one, index) => [`${index}`, one]);

function Cell({ value }: { value: unknown }) {
  const isNumber = typeof value === 'number';
  return (
    <td className={`max-w-72 px-2 py-1 align-top wrap-anywhere ${isNumber ? 'tabular-nums' : ''}`}>
      {value === null ? (
        <span className="mono text-cancel">null</span>
      ) : (
        value !== undefined && <MarkedText text={cellText(value)} />
      )}
    </td>
  );
}

const cellText = (value: unknown): string =>
  typeof value !== 'string'
    ? jsonLine(value, MAX_CELL_CHARS)
    : value.length > MAX_CELL_CHARS
      ? `${value.slice(0, MAX_CELL_CHARS)}…`
      : value;
