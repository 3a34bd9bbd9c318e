'use client';

import { useTranslations } from 'next-intl';
import type { ApiAnswer } from './api-document.ts';
import { DocsTable } from './docs-table.tsx';
import { FieldTable } from './field-table.tsx';

export interface AnswerListProps {
  answers: readonly ApiAnswer[];
  of: string;
}

/** What comes back, by status; the shapes open on demand. */
export function AnswerList({ answers, of }: AnswerListProps) {
  const t = useTranslations('docs');
  const statusOf = ({ status }: ApiAnswer) => (status === 'default' ? t('anyOther') : status);
  return (
    <>
      <DocsTable
        caption={t('answers')}
        of={of}
        head={[t('status'), t('meaning')]}
        rows={answers.map((answer) => [statusOf(answer), answer.description])}
      />
      {answers.map((answer) => {
        const caption = t('answerShape', { status: statusOf(answer) });
        return (
          answer.schema && (
            <details key={answer.status} className="mt-2">
              <summary className="cursor-pointer text-muted">{caption}</summary>
              <FieldTable schema={answer.schema} caption={caption} of={of} />
            </details>
          )
        );
      })}
    </>
  );
}
