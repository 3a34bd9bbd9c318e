'use client';

import { useTranslations } from 'next-intl';
import { Boundary } from '#components/ui/boundary';
import { MarkedText } from '#components/ui/marked-text';
import type { ToolListing } from '#lib/protocol/tool-spec';
import { CannotShow } from '../result/cannot-show.tsx';
import { JsonTree } from '../result/json-tree.tsx';
import { Disclosure } from '../tool-call/disclosure.tsx';
import { ToolFacts } from './tool-facts.tsx';
import { TryIt } from './try-it.tsx';
import { WholeTool } from './whole-tool.tsx';

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
