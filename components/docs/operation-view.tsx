'use client';

import { useTranslations } from 'next-intl';
import { useSyncExternalStore } from 'react';
import { AnswerList } from './answer-list.tsx';
import type { ApiOperation } from './api-document.ts';
import { CopyBlock } from './copy-block.tsx';
import { curlExample } from './curl-example.ts';
import { FieldTable } from './field-table.tsx';
import { ParameterTable } from './parameter-table.tsx';

/** One method and path: what it takes, what it answers, and a command to try it. */
export function OperationView({ operation }: { operation: ApiOperation }) {
  const t = useTranslations('docs');
  const origin = useOrigin();
  const { id, method, path, summary, description, parameters, body } = operation;
  const name = `${method} ${path}`;
  return (
    <section aria-labelledby={id} className="mt-4 rounded-lg border border-line bg-surface p-4">
      <h3 id={id} className="scroll-mt-4 font-semibold">
        <span className="mono rounded bg-surface2 px-1.5 py-0.5">{method}</span>{' '}
        <span className="mono break-all">{path}</span>
      </h3>
      <p className="mt-2">{summary}.</p>
      <p className="text-muted">{description}</p>
      {parameters.length > 0 && <ParameterTable parameters={parameters} of={name} />}
      {body && <FieldTable schema={body} caption={t('bodyFields')} of={name} />}
      <AnswerList answers={operation.answers} of={name} />
      <CopyBlock label={t('exampleOf', { name })} text={curlExample(operation, origin)} />
    </section>
  );
}

/** Where this page comes from; the server that draws it first does not have it. */
const useOrigin = (): string =>
  useSyncExternalStore(
    () => () => {},
    () => window.location.origin,
    () => '',
  );
