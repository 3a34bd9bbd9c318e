import { isRecord } from '../../json/is-record.ts';
import type { AttachmentUpload } from '../../protocol/client-messages.ts';
import type { CallAnswer, JournalEntry } from '../journal.ts';

/** One line of a journal's file. */
export type JournalRecord =
  | { readonly epoch: string }
  | { readonly put: JournalEntry }
  | { readonly delete: string };

/**
 * Undefined for what this version does not write. A test holds the answers to
 * their schemas in `protocol/client-messages.ts`; a client loads no schemas.
 */
export function parseJournalRecord(value: unknown): JournalRecord | undefined {
  if (!isRecord(value)) return undefined;
  const { epoch, put, delete: deleted } = value;
  if (typeof epoch === 'string' && epoch !== '') return { epoch };
  if (isEntry(put)) return { put };
  return typeof deleted === 'string' ? { delete: deleted } : undefined;
}

const isEntry = (value: unknown): value is JournalEntry =>
  isRecord(value) &&
  typeof value.id === 'string' &&
  Number.isFinite(value.attempt) &&
  typeof value.tool === 'string' &&
  typeof value.repeatable === 'boolean' &&
  (value.answer === null || isCallAnswer(value.answer));

function isCallAnswer(value: unknown): value is CallAnswer {
  if (!isRecord(value) || !isText(value.id, 128) || value.id === '') return false;
  if (!isOptional(value.attempt, isAttempt)) return false;
  switch (value.type) {
    case 'tool_result':
      return (
        value.output !== undefined &&
        isOptional(value.success, (given) => given === true) &&
        isOptional(value.attachments, isUploads)
      );
    case 'tool_error':
      return (
        isText(value.error) &&
        isOptional(value.success, (given) => given === false) &&
        isOptional(value.code, (given) => isText(given, 64))
      );
    default:
      return false;
  }
}

const isUploads = (value: unknown): value is AttachmentUpload[] =>
  Array.isArray(value) && value.length <= 8 && value.every(isUpload);

const isUpload = (value: unknown): value is AttachmentUpload =>
  isRecord(value) &&
  isText(value.media_type, 128) &&
  (isText(value.data) || isText(value.blob_id, 128)) &&
  isOptional(value.name, (given) => isText(given, 256)) &&
  isOptional(value.alt, (given) => isText(given, 2_000));

const isText = (value: unknown, longest = Number.POSITIVE_INFINITY): value is string =>
  typeof value === 'string' && value.length <= longest;

const isAttempt = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) > 0;

const isOptional = (value: unknown, fits: (given: unknown) => boolean): boolean =>
  value === undefined || fits(value);
