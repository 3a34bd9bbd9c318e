import { given } from '../../util/given.ts';
import type { ConnectOptions } from './page-callboard.ts';
import { parseUrl } from './parse-url.ts';

/** The part of `document.currentScript` that is used here. */
export interface ScriptTag {
  readonly src: string;
  readonly dataset: Readonly<Record<string, string | undefined>>;
}

/** Reads what the tag's attributes ask for; the server is the one that the script came from. */
export function readScript({ src, dataset }: ScriptTag): {
  readonly options: ConnectOptions;
  readonly problems: readonly string[];
} {
  const { server = parseUrl(src)?.origin, name, token, badge = 'on', webmcp = 'off' } = dataset;
  const problems = [
    ...switchProblem('data-badge', badge, 'The badge is shown.'),
    ...switchProblem('data-webmcp', webmcp, 'Tools of WebMCP are not offered.'),
  ];
  return {
    options: {
      ...given({ server, name, token }),
      badge: badge !== 'off',
      webMcp: webmcp === 'on',
    },
    problems,
  };
}

const switchProblem = (name: string, value: string, instead: string): string[] =>
  value === 'on' || value === 'off'
    ? []
    : [`${name} is ${JSON.stringify(value)}; it may be "on" or "off". ${instead}`];
