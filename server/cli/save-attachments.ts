import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Attachment } from '#lib/protocol/attachment';
import { errorMessage } from '#lib/util/error-message';
import type { Context } from './command.ts';
import { CliError } from './exit-codes.ts';

/** Files of a result into the folder of `--out`; without it a note of each. */
export async function saveAttachments(
  context: Context,
  attachments: readonly Attachment[],
): Promise<void> {
  const folder = context.text('out');
  for (const attachment of attachments) {
    const what = `${attachment.media_type}, ${attachment.size} bytes`;
    if (folder === undefined) {
      context.out.note(`File ${attachment.blob_id} (${what}); --out <folder> saves it.`);
    } else {
      const file = await saveBlob(context, resolve(context.cwd, folder), attachment);
      context.out.note(`Saved ${file} (${what}).`);
    }
  }
}

/** Under the blob's own id: the name that a tool gave it is not one for a path. Saved once. */
export async function saveBlob(
  context: Context,
  folder: string,
  { blob_id: id, media_type: mediaType }: Attachment,
): Promise<string> {
  if (!/^[A-Za-z0-9_-]{1,128}$/.test(id)) {
    throw new CliError('failed', `${JSON.stringify(id)} is not the id of a file`);
  }
  const file = join(folder, `${id}${extensionOf(mediaType)}`);
  const bytes = await context.server().blob(id);
  try {
    await mkdir(folder, { recursive: true });
    await pipeline(Readable.from(bytes), createWriteStream(file, { flags: 'w', mode: 0o600 }));
  } catch (error) {
    throw new CliError('failed', `${file} cannot be written: ${errorMessage(error)}`);
  }
  return file;
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  'image/jpeg': '.jpg',
  'image/png': '.png',
  'image/webp': '.webp',
  'image/gif': '.gif',
  'audio/webm': '.webm',
  'video/webm': '.webm',
  'application/json': '.json',
  'application/pdf': '.pdf',
  'text/plain': '.txt',
  'text/csv': '.csv',
};

const extensionOf = (mediaType: string): string =>
  EXTENSIONS[mediaType.split(';')[0]?.trim().toLowerCase() ?? ''] ?? '';
