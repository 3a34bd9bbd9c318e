import { isRecord } from '../json/is-record.ts';

/** Stores bytes with the server outside the socket; gives the blob's id, or rejects. */
export type UploadBlob = (upload: {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
}) => Promise<string>;

/** Uploads by `POST <baseUrl>/v1/blobs` (contract, section 6). */
export function createHttpUploadBlob({
  baseUrl,
  fetch,
  headers = {},
}: {
  baseUrl: string;
  fetch: (url: string, init: RequestInit) => Promise<Response>;
  headers?: Readonly<Record<string, string>>;
}): UploadBlob {
  return async ({ bytes, mediaType }) => {
    const response = await fetch(`${baseUrl}/v1/blobs`, {
      method: 'POST',
      headers: { ...headers, 'content-type': mediaType },
      body: new Blob([new Uint8Array(bytes)], { type: mediaType }),
    });
    if (!response.ok) throw new Error(`/v1/blobs answered ${response.status}, not 2xx`);
    const answer: unknown = await response.json();
    if (!isRecord(answer) || typeof answer.blob_id !== 'string') {
      throw new Error('/v1/blobs answered without a blob_id');
    }
    return answer.blob_id;
  };
}
