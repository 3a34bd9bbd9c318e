'use client';

import { useTranslations } from 'next-intl';
import { type ReactNode, useEffect, useState } from 'react';
import { Boundary } from '#components/ui/boundary';
import { MarkedText } from '#components/ui/marked-text';
import type { ApiResult } from '#lib/api/api-result';
import { showControlCharacters } from '#lib/format/show-control-characters';
import type { ToolListing } from '#lib/protocol/tool-spec';
import { useFormatFailure } from '../failure/format-failure.ts';
import { useApi } from '../providers/workbench-context.tsx';
import { CannotShow } from '../result/cannot-show.tsx';
import { JsonTree } from '../result/json-tree.tsx';
import { Disclosure } from '../tool-call/disclosure.tsx';
import { ToolFacts } from './tool-facts.tsx';
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
