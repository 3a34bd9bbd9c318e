'use client';

import { harden } from 'rehype-harden';
import {
  type Components,
  defaultRehypePlugins,
  Streamdown,
  type StreamdownProps,
} from 'streamdown';
import { pictureSource, useBlobUrl } from '../result/use-blob-url.ts';

export interface MarkdownProps {
  text: string;
  streaming: boolean;
}

/**
 * A model's text, as far as it has come. What a model says may have been put
 * into its mouth by a tool's result, so nothing is loaded from elsewhere: a
 * picture with a secret in its address would be a leak (only our own blobs are
 * drawn), and links go nowhere but to the web or to mail.
 */
export function Markdown({ text, streaming }: MarkdownProps) {
  return (
    <Streamdown
      mode={streaming ? 'streaming' : 'static'}
      isAnimating={streaming}
      rehypePlugins={hardened()}
      components={MARKDOWN_COMPONENTS}
      linkSafety={{ enabled: false }}
      className="space-y-2 [overflow-wrap:anywhere]"
    >
      {text}
    </Streamdown>
  );
}

type Plugins = NonNullable<StreamdownProps['rehypePlugins']>;
let plugins: Plugins | undefined;

/** Made once, and only in a browser: it needs the page's own origin. */
function hardened(): Plugins {
  plugins ??= [
    ...[defaultRehypePlugins.raw, defaultRehypePlugins.sanitize].filter((one) => one !== undefined),
    [
      harden,
      {
        defaultOrigin: location.origin,
        allowedImagePrefixes: [`${location.origin}/v1/blobs/`],
        allowedLinkPrefixes: ['*'],
        allowedProtocols: ['https:', 'http:', 'mailto:'],
        allowDataImages: false,
      },
    ],
  ];
  return plugins;
}

/** What scrolls must take the focus, so that arrow keys reach it (WCAG 2.1.1). */
const FOCUSABLE = { tabIndex: 0 };

const TABLE =
  'w-full border-collapse [&_td]:border-b [&_td]:px-2 [&_td]:py-1 [&_th]:border-b [&_th]:px-2 [&_th]:py-1 [&_th]:text-left';

/** Quieter and smaller than the formatter's own; tables and code scroll, the page never does. */
const MARKDOWN_COMPONENTS: Components = {
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

/** A picture that a model names: one of our own blobs, as all else was taken out before. */
export function MarkdownImage({ src, alt = '' }: { src?: string | Blob; alt?: string }) {
  const path = typeof src === 'string' ? blobPath(src) : undefined;
  return path === undefined ? alt : <BlobImage path={path} alt={alt} />;
}

function BlobImage({ path, alt }: { path: string; alt: string }) {
  return <img src={pictureSource(useBlobUrl(path))} alt={alt} className="max-w-full" />;
}

/** Exactly a blob's: the key of the sign-in is sent to it. */
function blobPath(src: string): string | undefined {
  if (!URL.canParse(src, location.origin)) return undefined;
  return /^\/v1\/blobs\/blob_[0-9a-f]{40}$/.exec(new URL(src, location.origin).pathname)?.[0];
}
