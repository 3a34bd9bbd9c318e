import { ToolFailure } from '../client/client-tool.ts';

/** An address of the web in its usual form; no other scheme runs code or opens an app. */
export function readWebUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url.href;
  throw new ToolFailure(
    'invalid_args',
    `${text.slice(0, 200)} is not a whole address that begins with http:// or https://.`,
  );
}
