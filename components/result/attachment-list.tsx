'use client';

import { FileIcon } from 'lucide-react';
import { useLocale, useTranslations } from 'next-intl';
import { formatBytes } from '#lib/format/format-bytes';
import type { Attachment } from '#lib/protocol/attachment';
import { MarkedText } from '../ui/marked-text.tsx';
import { ImageView } from './image-view.tsx';
import { SavedBytes } from './saved-bytes.tsx';

export interface AttachmentListProps {
  attachments: readonly Attachment[];
  /** Name of the tool. */
  name: string;
  blobUrl: (blobId: string) => string;
  isReconstructed: boolean;
}

/** Formats that browsers draw and that carry no scripts. */
const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'image/avif'];

/** Pictures and files beside a result, by their media type. */
export function AttachmentList(props: AttachmentListProps) {
  return (
    <ul className="mb-1.5 flex flex-col gap-2">
      {props.attachments.map((one) => (
        <li key={one.blob_id}>
          {IMAGE_TYPES.includes(one.media_type) ? (
            <ImageView
              image={one}
              name={props.name}
              url={props.blobUrl(one.blob_id)}
              isReconstructed={props.isReconstructed}
            />
          ) : (
            <FileLink file={one} url={props.blobUrl(one.blob_id)} />
          )}
          {one.unreadable !== undefined && <Unreadable why={one.unreadable} />}
        </li>
      ))}
    </ul>
  );
}

function Unreadable({ why }: { why: string }) {
  const t = useTranslations('card.result');
  return (
    <p className="mt-1 text-xs text-muted">
      <MarkedText text={t('unreadable', { why })} />
    </p>
  );
}

function FileLink({ file, url }: { file: Attachment; url: string }) {
  const t = useTranslations('card.result');
  const locale = useLocale();
  return (
    <SavedBytes
      path={url}
      name={file.name ?? file.blob_id}
      className="inline-flex items-center gap-2 underline"
    >
      <FileIcon aria-hidden className="size-4" />
      <span>
        <MarkedText text={file.name ?? t('file')} />
      </span>
      <span className="text-xs text-muted">
        <MarkedText text={file.media_type} /> · {formatBytes(file.size, locale)}
      </span>
    </SavedBytes>
  );
}
