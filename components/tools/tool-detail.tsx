'use client';

import { useLocale, useTranslations } from 'next-intl';
import { type ReactNode, useEffect, useState } from 'react';
import type { ApiResult } from '#lib/api/api-result';
import { formatDuration } from '#lib/format/amounts';
import { showControlCharacters } from '#lib/format/show-control-characters';
import type { ToolAnnotations, ToolListing } from '#lib/protocol/tool-spec';
import { useFormatFailure } from '../failure/format-failure.ts';
import { useApi } from '../providers/workbench-context.tsx';
import { CannotShow } from '../result/cannot-show.tsx';
import { JsonTree } from '../result/json-tree.tsx';
import { useNow } from '../shell/use-now.ts';
import { Disclosure } from '../tool-call/disclosure.tsx';
import { Boundary } from '../ui/boundary.tsx';
import { MarkedText } from '../ui/marked-text.tsx';
import { sourceLabel } from './source-label.ts';
import { TryIt } from './try-it.tsx';

export interface ToolDetailProps {
  tool: ToolListing;
  /** The id of the client that is chosen to try it. */
  client: string | null;
}

/** One tool in full, and how to try it. */
export function ToolDetail({ tool, client }: ToolDetailProps) {
  const t = useTranslations('tools');
  return (
    <article aria-labelledby="tool-name">
      <h1 id="tool-name" className="mono text-lg! font-bold wrap-anywhere">
        <MarkedText text={tool.name} />
      </h1>
      {tool.display_name && (
        <p className="text-muted wrap-anywhere">
          <MarkedText text={tool.display_name} />
        </p>
      )}
      {!tool.callable && (
        <p className="mt-1 text-error">
          <strong>{t('notCallable')}</strong> <MarkedText text={tool.reason ?? ''} />
        </p>
      )}
      <p className="mt-2 whitespace-pre-wrap wrap-anywhere">
        <MarkedText text={tool.description} keepLayout />
      </p>
      <ToolFacts tool={tool} />
      <WholeTool tool={tool}>
        {(whole) => (
          <>
            <Disclosure label={t('schema')} memoryKey={`tool-${tool.name}:schema`}>
              {() => <JsonTree value={whole.schema} label={t('schema')} />}
            </Disclosure>
            <Boundary
              of={whole.schema}
              fallback={<CannotShow value={whole.schema} name={tool.name} />}
            >
              <TryIt tool={whole} client={client} />
            </Boundary>
          </>
        )}
      </WholeTool>
    </article>
  );
}

interface WholeToolProps {
  tool: ToolListing;
  children: (tool: ToolListing) => ReactNode;
}

/** What is drawn of a tool with its schema: the watch feed has none of a large one, so it is fetched. */
export function WholeTool({ tool, children }: WholeToolProps) {
  return tool.schema_bytes === undefined ? (
    children(tool)
  ) : (
    <FetchedTool key={tool.schema_bytes} tool={tool}>
      {children}
    </FetchedTool>
  );
}

function FetchedTool({ tool, children }: WholeToolProps) {
  const t = useTranslations('tools');
  const formatFailure = useFormatFailure();
  const fetched = useTools(tool.name);
  if (fetched === null) return <p role="status">{t('loading')}</p>;
  const whole = fetched.ok ? fetched.value.tools.find(({ name }) => name === tool.name) : undefined;
  if (whole) return children({ ...tool, schema: whole.schema });
  return (
    <p role="alert" className="text-error wrap-anywhere">
      {fetched.ok
        ? t('notOffered', { name: tool.name })
        : showControlCharacters(formatFailure(fetched))}
    </p>
  );
}

/** The tools of that name, as the server lists them. Null while they are fetched. */
function useTools(name: string): ApiResult<{ tools: ToolListing[] }> | null {
  const api = useApi();
  const [answer, setAnswer] = useState<ApiResult<{ tools: ToolListing[] }> | null>(null);
  useEffect(() => {
    let isWanted = true;
    void api.listTools(name).then((result) => isWanted && setAnswer(result));
    return () => {
      isWanted = false;
    };
  }, [api, name]);
  return answer;
}

/** Who serves a tool, for how long it may run, its author's hints. */
export function ToolFacts({ tool }: { tool: ToolListing }) {
  const t = useTranslations('tools');
  const locale = useLocale();
  const hints = hintsOf(tool.annotations);
  return (
    <dl className="mt-3 grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1">
      <dt className="text-muted">{t('facts.source')}</dt>
      <dd>{sourceLabel(tool.source, t)}</dd>
      {tool.source === 'client' && (
        <>
          <dt className="text-muted">{t('facts.servedBy')}</dt>
          <dd>
            {tool.clients.length === 0
              ? t('facts.noClient')
              : tool.clients.map((client) => (
                  <ServingClient key={client.client_id} client={client} />
                ))}
            {tool.clients_left_out !== undefined && (
              <span className="block text-xs text-muted">
                {t('facts.moreClients', { count: tool.clients_left_out })}
              </span>
            )}
          </dd>
        </>
      )}
      {tool.others && (
        <>
          <dt className="text-muted">{t('facts.others')}</dt>
          <dd>
            {tool.others.map((other) => (
              <OtherClient key={other.client_id} tool={tool.name} other={other} />
            ))}
          </dd>
        </>
      )}
      <dt className="text-muted">{t('facts.timeout')}</dt>
      <dd>{formatDuration(tool.timeout_ms, locale, { whole: true })}</dd>
      {tool.model_name !== tool.name && (
        <>
          <dt className="text-muted">{t('facts.modelName')}</dt>
          <dd className="mono wrap-anywhere">{tool.model_name}</dd>
        </>
      )}
      {tool.unchecked && (
        <>
          <dt className="text-muted">{t('facts.unchecked')}</dt>
          <dd className="wrap-anywhere">
            <span className="mono">
              <MarkedText text={tool.unchecked.join(', ')} />
            </span>{' '}
            <span className="text-xs text-muted">({t('facts.uncheckedNote')})</span>
          </dd>
        </>
      )}
      {hints.length > 0 && (
        <>
          <dt className="text-muted">{t('facts.hints')}</dt>
          <dd>
            {hints.map((hint) => t(`facts.${hint}`)).join(', ')}{' '}
            <span className="text-xs text-muted">({t('facts.hintsNote')})</span>
          </dd>
        </>
      )}
    </dl>
  );
}

/** One client that serves it, and why it is not asked when that is so. */
function ServingClient({ client }: { client: ToolListing['clients'][number] }) {
  const t = useTranslations('tools.facts');
  const locale = useLocale();
  const { tripped } = client;
  const now = useNow(tripped !== undefined);
  const leftMs = tripped ? Math.ceil(tripped.until - now / 1_000) * 1_000 : 0;
  const time = formatDuration(leftMs, locale, { whole: true });
  return (
    <span className="block wrap-anywhere">
      <MarkedText text={client.name || client.client_id} />{' '}
      <span className="text-xs text-muted">{t(client.visible ? 'inFront' : 'inBack')}</span>
      {client.responsive === false && (
        <span className="block text-xs font-semibold text-wait">{t('silent')}</span>
      )}
      {tripped && (
        <span className="block text-xs font-semibold text-wait">
          {leftMs > 0 ? t('passedOver', { failures: tripped.failures, time }) : t('triedAgain')}
        </span>
      )}
    </span>
  );
}

type Other = NonNullable<ToolListing['others']>[number];

/** A client with a tool of the same name and another schema, and how that one is called. */
function OtherClient({ tool, other }: { tool: string; other: Other }) {
  return (
    <span className="block wrap-anywhere">
      <MarkedText text={other.name || other.client_id} />{' '}
      <span className="mono text-xs text-muted">
        <MarkedText text={`${tool}@${other.client_id}`} />
      </span>
    </span>
  );
}

/** What the author stated, either way; what was not stated is not shown. */
const HINTS = [
  ['readOnlyHint', 'notReadOnlyHint'],
  ['destructiveHint', 'notDestructiveHint'],
  ['idempotentHint', 'notIdempotentHint'],
  ['openWorldHint', 'notOpenWorldHint'],
] as const;

const hintsOf = (annotations: ToolAnnotations | undefined) =>
  HINTS.flatMap(([yes, no]) => {
    const value = annotations?.[yes];
    return value === undefined ? [] : [value ? yes : no];
  });
