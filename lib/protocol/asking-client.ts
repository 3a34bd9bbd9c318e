/** Whose person asks: a client, and where that is known the instance of it, such as one tab of a browser. */
export interface AskingClient {
  readonly clientId: string;
  readonly instanceId?: string | undefined;
}

/** No id of a person's client has it. */
const MARK = '\n';

/** It is one text, as it is kept with calls: the client's id alone where the instance is not known. */
export const askingText = (
  clientId: string | undefined,
  instanceId?: string | undefined,
): string | undefined =>
  clientId === undefined || instanceId === undefined ? clientId : `${clientId}${MARK}${instanceId}`;

/** Null: no one in particular. */
export function parseAskingClient(text: string | null | undefined): AskingClient | null {
  if (text === null || text === undefined) return null;
  const at = text.indexOf(MARK);
  return at < 0
    ? { clientId: text }
    : { clientId: text.slice(0, at), instanceId: text.slice(at + MARK.length) };
}
