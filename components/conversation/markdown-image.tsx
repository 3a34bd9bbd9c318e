'use client';

import { pictureSource, useBlobUrl } from '../result/use-blob-url.ts';

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
