'use client';

import { useTranslations } from 'next-intl';
import { useState, useSyncExternalStore } from 'react';
import { ScrollRegion } from '#components/result/scroll-region';
import { Button } from '#components/ui/button';
import { copyText } from '../tool-call/copy-text.ts';
import {
  type ApiAnswer,
  type ApiOperation,
  type ApiParameter,
  fieldsOf,
  type JsonObject,
  toObject,
  typeOf,
} from './api-document.ts';

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

interface AnswerListProps {
  answers: readonly ApiAnswer[];
  of: string;
}

/** What comes back, by status; the shapes open on demand. */
function AnswerList({ answers, of }: AnswerListProps) {
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

type Copying = 'idle' | 'copied' | 'failed';

/** Text for the shell, with a button that copies it. */
function CopyBlock({ label, text }: { label: string; text: string }) {
  const t = useTranslations('docs');
  const common = useTranslations('common');
  const [copying, setCopying] = useState<Copying>('idle');
  const words = { idle: '', copied: common('copied'), failed: t('copyFailed') };
  return (
    <div className="mt-3">
      <div className="flex items-center justify-between gap-2">
        <span className="font-semibold text-sm">{t('example')}</span>
        <span role="status" className="ml-auto text-muted text-sm">
          {words[copying]}
        </span>
        <Button
          size="sm"
          aria-label={`${common('copy')}: ${label}`}
          onClick={async () => setCopying((await copyText(text)) ? 'copied' : 'failed')}
        >
          {common('copy')}
        </Button>
      </div>
      <ScrollRegion label={label} className="mt-1 rounded border border-line bg-bg">
        <pre className="mono p-3">
          <code>{text}</code>
        </pre>
      </ScrollRegion>
    </div>
  );
}

/** A command that can be pasted into a shell; parts of the path to fill in stay as `{name}`. */
export function curlExample(operation: ApiOperation, origin: string): string {
  const lines = [
    `curl ${operation.method === 'GET' ? '' : `-X ${operation.method} `}'${origin}${operation.path}'`,
  ];
  if (!operation.open) lines.push(`-H "Authorization: Bearer $CALLBOARD_TOKEN"`);
  if (operation.body) {
    lines.push(`-H 'Content-Type: application/json'`);
    lines.push(`-d '${JSON.stringify(exampleOf(operation.body)).replaceAll("'", `'\\''`)}'`);
  }
  return lines.join(' \\\n  ');
}

/** The smallest value that has what is required. */
export function exampleOf(schema: JsonObject): unknown {
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const [first] = [schema.anyOf ?? schema.oneOf].flat();
  if (first !== undefined) return exampleOf(toObject(first));
  switch (typeOf(schema).split(' ')[0]) {
    case 'object':
      return Object.fromEntries(
        fieldsOf(schema)
          .filter(([, , required]) => required)
          .map(([name, field]) => [name, exampleOf(field)]),
      );
    case 'string':
      return 'text';
    case 'number':
    case 'integer':
      return 1;
    case 'boolean':
      return true;
    case 'any':
      return {};
    default:
      return [];
  }
}

interface ParameterTableProps {
  parameters: readonly ApiParameter[];
  of: string;
}

/** Parameters in path and query. */
function ParameterTable({ parameters, of }: ParameterTableProps) {
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

/** Deeper fields show their type alone; the whole schema is in `/openapi.json`. */
const MAX_DEPTH = 2;

interface FieldTableProps {
  schema: JsonObject;
  caption: string;
  of: string;
}

/** The fields of a schema, nested ones by their path: `timings.queued_at`, `tools[].name`. */
function FieldTable({ schema, caption, of }: FieldTableProps) {
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

interface DocsTableProps {
  caption: string;
  /** The operation, so that each scrolling part has a name of its own. */
  of: string;
  head: readonly string[];
  /** The first cell of each names its row. */
  rows: readonly (readonly string[])[];
}

/** A table with headers that scrolls by itself on a narrow screen. */
const DocsTable = ({ caption, of, head, rows }: DocsTableProps) => (
  <ScrollRegion label={`${caption}: ${of}`} className="mt-3">
    <table className="w-full text-left text-sm">
      <caption className="pb-1 text-left font-semibold">{caption}</caption>
      <thead>
        <tr className="border-line border-b text-muted">
          {head.map((title) => (
            <th key={title} scope="col" className="py-1 pr-4 font-semibold">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([name = '', ...cells]) => (
          <tr key={name} className="border-line border-b align-top last:border-b-0">
            <th scope="row" className="mono py-1 pr-4 font-normal">
              {name}
            </th>
            {cells.map((cell, index) => (
              <td key={head[index + 1]} className="py-1 pr-4">
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </ScrollRegion>
);
