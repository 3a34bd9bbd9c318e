'use client';

import { useTranslations } from 'next-intl';
import { showControlCharacters } from '#lib/format/show-control-characters';
import type { ToolListing } from '#lib/protocol/tool-spec';
import { JsonTree } from '../result/json-tree.tsx';
import { Disclosure } from '../tool-call/disclosure.tsx';
import { ToolFacts } from './tool-facts.tsx';
import { TryIt } from './try-it.tsx';

/** One tool in full, and how to try it. */
export function ToolDetail({ tool }: { tool: ToolListing }) {
  const t = useTranslations('tools');
  return (
    <article aria-labelledby="tool-name">
      <h1 id="tool-name" className="mono text-lg! font-bold wrap-anywhere">
        {showControlCharacters(tool.name)}
      </h1>
      {tool.display_name && (
        <p className="text-muted wrap-anywhere">{showControlCharacters(tool.display_name)}</p>
      )}
      {!tool.callable && (
        <p className="mt-1 text-error">
          <strong>{t('notCallable')}</strong> {tool.reason}
        </p>
      )}
      <p className="mt-2 whitespace-pre-wrap wrap-anywhere">
        {showControlCharacters(tool.description, { keepLayout: true })}
      </p>
      <ToolFacts tool={tool} />
      <Disclosure label={t('schema')} memoryKey={`tool-${tool.name}:schema`}>
        {() => <JsonTree value={tool.schema} label={t('schema')} />}
      </Disclosure>
      <TryIt tool={tool} />
    </article>
  );
}
