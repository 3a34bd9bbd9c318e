import type { Picture } from '../picture.ts';

const QUALITY = 0.9;
/** Browsers refuse larger canvases. */
const MAX_SIDE = 8_192;

/** The pixels of a picture as a file of that type; of what was beside them nothing is left. */
export async function writePicture(
  frame: ImageBitmap,
  options: { maxWidth: number; type: string; quality?: number | undefined },
): Promise<Picture> {
  const { maxWidth, type, quality = QUALITY } = options;
  const scale = Math.min(
    1,
    maxWidth / frame.width,
    MAX_SIDE / frame.width,
    MAX_SIDE / frame.height,
  );
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(frame.width * scale));
  canvas.height = Math.max(1, Math.round(frame.height * scale));
  canvas.getContext('2d')?.drawImage(frame, 0, 0, canvas.width, canvas.height);
  frame.close();
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, type, quality));
  if (!blob) throw new Error(`the picture could not be written as ${type}`);
  // A browser that cannot write the wanted type gives PNG, with its type.
  return { blob, mediaType: blob.type, width: canvas.width, height: canvas.height };
}

/** What a canvas writes; a picture of another type becomes a JPEG. */
const WRITTEN_TYPES = ['image/png', 'image/jpeg', 'image/webp'];

/** A picture file written anew from its pixels, upright. Throws when the browser cannot read it. */
export async function rewritePicture(
  file: Blob,
  { maxWidth }: { maxWidth: number },
): Promise<Picture> {
  const frame = await createImageBitmap(file, { imageOrientation: 'from-image' });
  const type = WRITTEN_TYPES.includes(file.type) ? file.type : 'image/jpeg';
  return writePicture(frame, { maxWidth, type });
}
