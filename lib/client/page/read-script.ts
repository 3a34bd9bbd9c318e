import type { ConnectOptions } from './page-callboard.ts';
import { parseUrl } from './parse-url.ts';

/** The part of `document.currentScript` that is used here. */
export interface ScriptTag {
  readonly src: string;
  readonly dataset: Readonly<Record<string, string | undefined>>;
}

/** What the tag's attributes ask for; the server is the one that the script came from. */
export function readScript({ src, dataset }: ScriptTag): {
  readonly options: ConnectOptions;
  readonly problems: readonly string[];
} {
  const { server = parseUrl(src)?.origin, name, token, badge = 'on' } = dataset;
  const problems =
    badge === 'on' || badge === 'off'
      ? []
      : [`data-badge is ${JSON.stringify(badge)}; it may be "on" or "off". The badge is shown.`];
  return {
    options: {
      ...(server === undefined ? {} : { server }),
      ...(name === undefined ? {} : { name }),
      ...(token === undefined ? {} : { token }),
      badge: badge !== 'off',
    },
    problems,
  };
}
