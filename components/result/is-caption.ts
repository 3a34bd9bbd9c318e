import { isRecord } from '#lib/json/is-record';
import type { Attachment } from '#lib/protocol/attachment';

/**
 * Whether a result says no more than what stands below its picture anyway: facts
 * of an attachment, and how this system's own tools took the picture. With any
 * other key, or another value, it is a result to be shown.
 */
export function isCaption(value: unknown, attachments: readonly Attachment[]): boolean {
  if (!isRecord(value)) return false;
  return attachments.some((attachment) => {
    const facts = new Map<string, unknown>(Object.entries(attachment));
    const more = Object.keys(value).filter((key) => {
      if (key === 'media_type') return value[key] !== attachment.media_type;
      const isFact = facts.has(key) ? facts.get(key) === value[key] : SIZE.has(key);
      return !isFact;
    });
    return 'media_type' in value && isOurs(more, value);
  });
}

/** The store measures pictures, and does not know the size of every format. */
const SIZE = new Set(['width', 'height']);

/** The screenshot says how it was taken, with a note on that; the camera, which one it was. */
function isOurs(keys: readonly string[], { mode, facing }: Record<string, unknown>): boolean {
  const isScreenshot = mode === 'page' || mode === 'display';
  const isPhoto = facing === 'user' || facing === 'environment';
  return keys.every((key) =>
    key === 'facing' ? isPhoto : (key === 'mode' || key === 'note') && isScreenshot,
  );
}
