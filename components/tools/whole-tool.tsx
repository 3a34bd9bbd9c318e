'use client';

import { useTranslations } from 'next-intl';
import { type ReactNode, useEffect, useState } from 'react';
import type { ApiResult } from '#lib/api/api-result';
import { showControlCharacters } from '#lib/format/show-control-characters';
import type { ToolListing } from '#lib/protocol/tool-spec';
import { useFormatFailure } from '../failure/format-failure.ts';
import { useApi } from '../providers/workbench-context.tsx';

export interface WholeToolProps {
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
