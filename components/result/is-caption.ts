import { PICTURE_NOTES } from '#lib/browser-tools/picture-notes';
import { isRecord } from '#lib/json/is-record';
import type { Attachment } from '#lib/protocol/attachment';

/**
 * Whether a result has no more than what is below its picture anyway: facts
 * of an attachment, and how this system's own tools took the picture. With any
 * other key, or another value, it is a result to be shown.
 */
export function isCaption(value: unknown, attachments: readonly Attachment[]): boolean {
  if (!isRecord(value)) return false;
  return attachments.some((attachment) => {
    const facts = new Map<string, unknown>(Object.entries(attachment));
    const more = Object.keys(value).filter((key) => {
      if (key === 'media_type') return value[key] !== attachment.media_type;
      const isFact = facts.has(key)
        ? facts.get(key) === value[key]
        : SIZE.has(key) && typeof value[key] === 'number';
      return !isFact;
    });
    return 'media_type' in value && isOurs(more, value);
  });
}

/** The store measures pictures, but not those of every format. */
const SIZE = new Set(['width', 'height']);

/** The screenshot has a note of how it was taken, in words of our own; the camera, which one it was. */
function isOurs(
  keys: readonly string[],
  { mode, note, facing, displaySurface }: Record<string, unknown>,
): boolean {
  const ourNote = mode === 'page' || mode === 'display' ? PICTURE_NOTES[mode] : undefined;
  const isPhoto = facing === 'user' || facing === 'environment';
  return keys.every((key) => {
    if (key === 'facing') return isPhoto;
    if (key === 'note') return note === ourNote;
    if (key === 'displaySurface') return mode === 'display' && displaySurface === 'browser';
    return key === 'mode' && ourNote !== undefined;
  });
}
