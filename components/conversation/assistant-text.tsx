'use client';

import dynamic from 'next/dynamic';

const Markdown = dynamic(() => import('./markdown.tsx').then((module) => module.Markdown), {
  ssr: false,
  loading: () => null,
});

/** What the agent says. Until the formatter is there it is shown as it came. */
export function AssistantText({ text, streaming }: { text: string; streaming: boolean }) {
  return (
    <div className="rounded-[10px] border border-line px-3 py-2 empty:hidden">
      <Markdown text={text} streaming={streaming} />
    </div>
  );
}
