'use client';

import { FileIcon } from 'lucide-react';
import { useLocale, useTranslations } from 'next-intl';
import { useState } from 'react';
import { formatBytes } from '#lib/format/amounts';
import { showControlCharacters } from '#lib/format/show-control-characters';
import type { Attachment } from '#lib/protocol/attachment';
import { Dialog } from '../ui/dialog.tsx';
import { MarkedText } from '../ui/marked-text.tsx';
import { SavedBytes } from './saved-bytes.tsx';
import { pictureSource, useBlobUrl } from './use-blob-url.ts';

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

interface ImageViewProps {
  image: Attachment;
  /** Name of the tool. */
  name: string;
  /** Of its bytes. */
  url: string;
  isReconstructed: boolean;
}

/** A picture that a tool brought: small in the card, whole in a dialog. */
function ImageView({ image, name, url, isReconstructed }: ImageViewProps) {
  const t = useTranslations('card');
  const common = useTranslations('common');
  const locale = useLocale();
  const [isOpen, setOpen] = useState(false);
  const blob = useBlobUrl(url);
  const alt = showControlCharacters(image.alt ?? image.name ?? t('result.image', { tool: name }));
  const hasSize = image.width !== undefined && image.height !== undefined;
  const size = hasSize ? { width: image.width, height: image.height } : {};
  const src = pictureSource(blob, size);
  const info = [
    ...(hasSize
      ? [t('result.imageInfo', { width: image.width ?? 0, height: image.height ?? 0 })]
      : []),
    image.media_type.replace('image/', '').toUpperCase(),
    formatBytes(image.size, locale),
  ];
  return (
    <figure>
      <button
        type="button"
        aria-label={t('result.zoom', { alt })}
        onClick={() => setOpen(true)}
        className="block max-w-full overflow-hidden rounded-md border border-line bg-surface2"
      >
        <img
          src={src}
          alt={alt}
          {...size}
          decoding="async"
          className="h-auto max-h-60 w-auto max-w-full object-contain"
        />
      </button>
      <figcaption className="mt-1 text-xs text-muted">
        {info.join(' · ')}
        {isReconstructed && <> · {t('result.reconstructed')}</>}
      </figcaption>
      {isOpen && (
        <Dialog
          open
          onOpenChange={setOpen}
          title={alt}
          closeLabel={common('close')}
          width="max-w-[94vw] w-fit!"
        >
          <img src={src} alt={alt} {...size} className="h-auto max-h-[76dvh] w-auto max-w-full" />
          <p className="mt-2 text-xs text-muted">
            {info.join(' · ')}
            {blob.state === 'ready' && (
              <>
                {' · '}
                <a
                  href={blob.url}
                  download={image.name ?? image.blob_id}
                  className="text-accent underline"
                >
                  {t('action.download')}
                </a>
              </>
            )}
          </p>
        </Dialog>
      )}
    </figure>
  );
}
