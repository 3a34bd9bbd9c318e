'use client';

import { harden } from 'rehype-harden';
import { defaultRehypePlugins, Streamdown, type StreamdownProps } from 'streamdown';
import { MARKDOWN_COMPONENTS } from './markdown-components.tsx';

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
