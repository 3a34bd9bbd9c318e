import type { Components } from 'streamdown';
import { MarkdownImage } from './markdown-image.tsx';

/** What scrolls must take the focus, so that arrow keys reach it (WCAG 2.1.1). */
const FOCUSABLE = { tabIndex: 0 };

const TABLE =
  'w-full border-collapse [&_td]:border-b [&_td]:px-2 [&_td]:py-1 [&_th]:border-b [&_th]:px-2 [&_th]:py-1 [&_th]:text-left';

/** Quieter and smaller than the formatter's own; tables and code scroll, the page never does. */
export const MARKDOWN_COMPONENTS: Components = {
  table: ({ children }) => (
    <div {...FOCUSABLE} className="overflow-x-auto">
      <table className={TABLE}>{children}</table>
    </div>
  ),
  // Bullets and numbers stand outside, so that lines of an item begin below one another.
  ul: ({ children }) => <ul className="list-outside list-disc space-y-1 pl-5">{children}</ul>,
  ol: ({ children, start }) => (
    <ol start={start} className="list-outside list-decimal space-y-1 pl-6">
      {children}
    </ol>
  ),
  li: ({ children }) => <li>{children}</li>,
  thead: ({ children }) => <thead>{children}</thead>,
  tbody: ({ children }) => <tbody>{children}</tbody>,
  tr: ({ children }) => <tr>{children}</tr>,
  th: ({ children }) => <th>{children}</th>,
  td: ({ children }) => <td>{children}</td>,
  pre: ({ children }) => (
    <pre {...FOCUSABLE} className="mono overflow-x-auto rounded-lg bg-surface2 px-3 py-2">
      {children}
    </pre>
  ),
  code: ({ children }) => <code>{children}</code>,
  img: ({ src, alt }) => (
    <MarkdownImage
      {...(src === undefined ? {} : { src })}
      {...(alt === undefined ? {} : { alt })}
    />
  ),
  inlineCode: ({ children }) => <code className="mono rounded bg-surface2 px-1">{children}</code>,
};
