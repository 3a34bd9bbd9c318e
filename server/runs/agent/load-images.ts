import type { Call } from '#lib/call/call';
import { type Attachment, isImage } from '#lib/protocol/attachment';
import type { Message } from '#lib/protocol/run';
import type { ModelImage } from './build-model-history.ts';

/** `message`: why it cannot be read. */
type ScaledImage =
  | (ModelImage & { readonly ok: true })
  | { readonly ok: false; readonly message: string };

export interface ImageSource {
  readBlob(blobId: string): Promise<{ bytes: Uint8Array } | undefined>;
  /** Makes a picture as small as a model needs. */
  scaleForModel(bytes: Uint8Array): Promise<ScaledImage>;
}

/** Each picture is sent again in every later step, so only the newest go along. */
const NEWEST_IMAGES = 4;

interface LoadedBefore {
  /** Kept over the steps of a turn, so that each picture is scaled once. */
  readonly ready: Map<string, ModelImage>;
  /** Its provider takes it, as far as is known. */
  readonly isSent: (blobId: string) => boolean;
}

/**
 * The newest pictures of people and calls, ready to be sent. What cannot be read or
 * scaled is left out: the model then has its description.
 */
export async function loadImages(
  messages: readonly Message[],
  calls: ReadonlyMap<string, Call>,
  source: ImageSource,
  { ready, isSent }: LoadedBefore,
): Promise<ReadonlyMap<string, ModelImage>> {
  const wanted = messages
    .flatMap(({ parts }) => parts)
    .flatMap((part) => {
      if (part.type === 'file') return [part.file];
      return part.type === 'tool_call' ? (calls.get(part.tool_call_id)?.attachments ?? []) : [];
    })
    .filter((one) => isImage(one) && one.unreadable === undefined && isSent(one.blob_id))
    .slice(-NEWEST_IMAGES);
  const loaded = await Promise.all(wanted.map((one) => loadImage(one, source, ready)));
  return new Map(
    loaded.flatMap((image, at) => {
      const blobId = wanted[at]?.blob_id;
      return image && blobId !== undefined ? [[blobId, image] as const] : [];
    }),
  );
}

async function loadImage(
  attachment: Attachment,
  source: ImageSource,
  ready: Map<string, ModelImage>,
): Promise<ModelImage | undefined> {
  const known = ready.get(attachment.blob_id);
  if (known) return known;
  const blob = await source.readBlob(attachment.blob_id);
  if (!blob) return undefined;
  const scaled = await source.scaleForModel(blob.bytes);
  if (!scaled.ok) return undefined;
  const image = { bytes: scaled.bytes, mediaType: scaled.mediaType };
  ready.set(attachment.blob_id, image);
  return image;
}
