'use client';

import { useTranslations } from 'next-intl';
import type { ApiParameter } from './api-document.ts';
import { DocsTable } from './docs-table.tsx';

export interface ParameterTableProps {
  parameters: readonly ApiParameter[];
  of: string;
}

/** Parameters in path and query. */
export function ParameterTable({ parameters, of }: ParameterTableProps) {
  const t = useTranslations('docs');
  const places: Record<string, string> = {
    path: t('inPath'),
    query: t('inQuery'),
    header: t('inHeader'),
  };
  return (
    <DocsTable
      caption={t('parameters')}
      of={of}
      head={[t('name'), t('place'), t('type'), t('required')]}
      rows={parameters.map(({ name, place, type, required }) => [
        name,
        places[place] ?? place,
        type,
        required ? t('yes') : t('no'),
      ])}
    />
  );
}
