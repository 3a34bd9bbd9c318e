'use client';

import { late } from '../ui/late.tsx';
import { MarkedText } from '../ui/marked-text.tsx';
import type { MarkdownProps } from './markdown.tsx';

/** What a model wrote. Until the formatter is there, or when it cannot be had, it is shown as it came. */
export const FormattedText = late<MarkdownProps>(
  () => import('./markdown.tsx').then((module) => module.Markdown),
  { instead: ({ text }) => <Plain text={text} /> },
);

/** What the agent says. */
export function AssistantText({ text, streaming }: { text: string; streaming: boolean }) {
  return (
    <div className="rounded-[10px] border border-line px-3 py-2 empty:hidden">
      <FormattedText text={text} streaming={streaming} />
    </div>
  );
}

const Plain = ({ text }: { text: string }) => (
  <p className="whitespace-pre-wrap [overflow-wrap:anywhere]">
    <MarkedText text={text} keepLayout />
  </p>
);
