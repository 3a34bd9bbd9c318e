'use client';

import { useTranslations } from 'next-intl';
import { fieldsOf, type JsonObject, typeOf } from './api-document.ts';
import { DocsTable } from './docs-table.tsx';

/** Deeper fields show their type alone; the whole schema is in `/openapi.json`. */
const MAX_DEPTH = 2;

export interface FieldTableProps {
  schema: JsonObject;
  caption: string;
  of: string;
}

/** The fields of a schema, nested ones by their path: `timings.queued_at`, `tools[].name`. */
export function FieldTable({ schema, caption, of }: FieldTableProps) {
  const t = useTranslations('docs');
  const rows = toRows(schema).map(([path, type, required]) => [
    path,
    type,
    required ? t('yes') : t('no'),
  ]);
  if (rows.length === 0) return <p className="mono mt-2">{typeOf(schema)}</p>;
  return (
    <DocsTable caption={caption} of={of} head={[t('name'), t('type'), t('required')]} rows={rows} />
  );
}

type Row = [path: string, type: string, required: boolean];

function toRows(schema: JsonObject, prefix = '', depth = 0): Row[] {
  return fieldsOf(schema).flatMap(([name, field, required]): Row[] => {
    const path = `${prefix}${name}`;
    const separator = field.properties === undefined ? '[].' : '.';
    const inner = depth + 1 < MAX_DEPTH ? toRows(field, path + separator, depth + 1) : [];
    return [[path, typeOf(field), required], ...inner];
  });
}
