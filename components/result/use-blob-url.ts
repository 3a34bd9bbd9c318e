'use client';

import { useEffect, useState } from 'react';
import { readBlob } from '../providers/page-session.ts';

/**
 * One of our blobs as an address that the browser can draw, or what became of
 * it. An `<img>` with the blob's own path would bring the cookie alone, which
 * opens nothing.
 */
export type BlobUrl =
  | { readonly state: 'loading' | 'failed' }
  | { readonly state: 'ready'; readonly url: string };

export function useBlobUrl(path: string): BlobUrl {
  const [blob, setBlob] = useState<BlobUrl>({ state: 'loading' });
  useEffect(() => {
    const controller = new AbortController();
    let url: string | undefined;
    readBlob(path, controller.signal).then(
      (bytes) => {
        if (controller.signal.aborted) return;
        url = URL.createObjectURL(bytes);
        setBlob({ state: 'ready', url });
      },
      () => {
        if (!controller.signal.aborted) setBlob({ state: 'failed' });
      },
    );
    return () => {
      controller.abort();
      if (url !== undefined) URL.revokeObjectURL(url);
    };
  }, [path]);
  return blob;
}

/** For `src`: until the bytes are here, an empty picture of their shape, which keeps their place. */
export function pictureSource(
  blob: BlobUrl,
  { width = 1, height = 1 }: { width?: number | undefined; height?: number | undefined } = {},
): string | undefined {
  if (blob.state === 'ready') return blob.url;
  if (blob.state === 'failed') return undefined;
  const empty = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"/>`;
  return `data:image/svg+xml,${encodeURIComponent(empty)}`;
}
