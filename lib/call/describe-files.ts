import { cutToBytes } from '../json/cut-to-bytes.ts';
import { type Attachment, isImage } from '../protocol/attachment.ts';
import { READ_RESULT } from '../protocol/run-tools.ts';
import { toModelName } from '../protocol/tool-name.ts';
import { stripInvisible } from '../text/invisible.ts';

const ALT_CHARS = 300;

/** Files as a model is told of them. */
export interface FilesInWords {
  readonly text: string;
  /** The server's words about files that are not here whole; empty where all are. */
  readonly note: string;
}

/**
 * A line for each file, and the texts of those that are text as far as `room` has bytes for them.
 * Pictures are numbered, as what is shown of them is named by its number.
 */
export function describeFiles(
  files: readonly Attachment[],
  room: number,
  callId?: string,
): FilesInWords {
  const heads = describeHeads(files);
  let left = room - bytesOf(heads.join('\n'));
  let texts = files.filter(({ text }) => text).length;
  const notes: string[] = [];
  const lines = files.map((file, at) => {
    const head = heads[at] ?? '';
    if (!file.text) return head;
    const whole = stripInvisible(file.text);
    const share = Math.max(0, Math.floor(left / texts) - END_BYTES);
    const text = cutToBytes(whole, share);
    left -= bytesOf(text) + END_BYTES;
    texts -= 1;
    if (text.length < whole.length || file.text_cut) notes.push(goesOn(at, text, file, callId));
    return `${head}\n${text}\n${END}`;
  });
  return { text: lines.join('\n'), note: notes.map((note) => `\n${note}`).join('') };
}

/** Bytes of the texts that `describeFiles` has with all the room that there is. */
export const textBytesOf = (files: readonly Attachment[]): number =>
  files.reduce((sum, { text }) => sum + (text ? bytesOf(text) + END_BYTES : 0), 0);

export const headBytesOf = (files: readonly Attachment[]): number =>
  bytesOf(describeHeads(files).join('\n'));

const END = '[end of the file]';
const END_BYTES = END.length + 2;

function goesOn(at: number, text: string, { size }: Attachment, callId?: string): string {
  const facts = `[Of file ${at + 1}, of ${size} bytes, the first ${text.length} characters stand above.`;
  if (callId === undefined) return `${facts}]`;
  const handle = JSON.stringify(`${callId}/${at + 1}`);
  return `${facts} ${toModelName(READ_RESULT)} with the handle ${handle} reads the rest, from offset ${text.length} on, or searches it.]`;
}

/** A picture that nobody is shown is not said to be shown. */
function describeHeads(files: readonly Attachment[]): string[] {
  let pictures = 0;
  return files.map((one) => {
    const type = oneLine(one.media_type);
    const words = oneLine(one.alt ?? one.name ?? '');
    const suffix = words === '' ? '' : `: ${words}`;
    if (!isImage(one)) return `[file ${type} ${one.size} bytes${suffix}]`;
    pictures += 1;
    const size = one.width && one.height ? ` ${one.width}×${one.height}` : '';
    const why = one.unreadable === undefined ? '' : `; not shown: ${oneLine(one.unreadable)}`;
    return `[picture ${pictures}${size} ${type}${suffix}${why}]`;
  });
}

const oneLine = (text: string): string =>
  Array.from(stripInvisible(text).replace(/\s+/g, ' ').trim()).slice(0, ALT_CHARS).join('');

export const bytesOf = (text: string): number => new TextEncoder().encode(text).length;
