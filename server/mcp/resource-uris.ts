const BLOB = 'callboard://blob/';
const CALL = 'callboard://call/';

/** The bytes of an attachment. */
export const blobUri = (blobId: string): string => `${BLOB}${blobId}`;

/** The whole text of a call's result. */
export const callUri = (callId: string): string => `${CALL}${callId}`;

export type ResourceUri =
  | { readonly kind: 'blob'; readonly id: string }
  | { readonly kind: 'call'; readonly id: string };

/** Undefined for what is none of ours. */
export function parseResourceUri(uri: string): ResourceUri | undefined {
  const form = /^callboard:\/\/(blob|call)\/([A-Za-z0-9_-]{1,80})$/.exec(uri);
  if (!form) return undefined;
  const [, kind, id = ''] = form;
  return { kind: kind === 'blob' ? 'blob' : 'call', id };
}
