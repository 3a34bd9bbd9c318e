'use client';

import { useTranslations } from 'next-intl';
import { jsonPreview } from '#lib/format/json-preview';
import { showControlCharacters } from '#lib/format/show-control-characters';
import type { Table } from './choose-result-view.ts';
import { ScrollRegion } from './scroll-region.tsx';

const MAX_ROWS = 100;
const MAX_COLUMNS = 50;
const MAX_CELL_CHARS = 200;

/** Rows with the same fields. The first of them; the raw JSON and the download have all. */
export function TableView({ table }: { table: Table }) {
  const t = useTranslations('card.result');
  const columns = table.columns.slice(0, MAX_COLUMNS);
  const rows = table.rows.slice(0, MAX_ROWS);
  return (
    <>
      <ScrollRegion label={t('table')} className="max-h-80 rounded-md border border-line">
        <table className="w-full border-collapse text-left text-[13px]">
          <thead className="sticky top-0 bg-surface2">
            <tr>
              {columns.map((name) => (
                <th
                  key={name}
                  scope="col"
                  className="mono whitespace-nowrap px-2 py-1 font-semibold"
                >
                  {showControlCharacters(name)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {/* Rows have no name of their own and never change places. */}
            {rows.map((row, index) => (
              <tr key={String(index)} className="border-t border-line">
                {columns.map((name, column) => (
                  <Cell key={name} value={row[column]} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
      <p className="mt-1 text-xs text-muted empty:hidden">
        {rows.length < table.rows.length &&
          t('rows', { shown: rows.length, count: table.rows.length })}{' '}
        {columns.length < table.columns.length &&
          t('columns', { shown: columns.length, count: table.columns.length })}
      </p>
    </>
  );
}

function Cell({ value }: { value: unknown }) {
  const isNumber = typeof value === 'number';
  return (
    <td className={`max-w-72 px-2 py-1 align-top wrap-anywhere ${isNumber ? 'tabular-nums' : ''}`}>
      {value === undefined ? (
        ''
      ) : value === null ? (
        <span className="mono text-cancel">null</span>
      ) : typeof value === 'string' ? (
        showControlCharacters(
          value.length > MAX_CELL_CHARS ? `${value.slice(0, MAX_CELL_CHARS)}…` : value,
        )
      ) : (
        jsonPreview(value, MAX_CELL_CHARS)
      )}
    </td>
  );
}
