import { type Attachment, attachmentSchema } from '#lib/protocol/attachment';
import { HttpError } from '#lib/protocol/http-error';
import { LIMITS } from '#lib/protocol/limits';
import { blobBodySchema } from '#lib/protocol/rest';
import { given } from '#lib/util/given';
import { type Caller, isAdmin, principalKey } from '../../auth/room.ts';
import type { BlobOutcome, BlobUpload } from '../../blobs/room.ts';
import { READERS, seenBlob, UPLOADERS } from '../../doors/room.ts';
import type { HttpDeps } from '../http-deps.ts';
import { checkShape, isJsonType, readBody, readJson } from '../read-body.ts';
import { type HttpResponse, json } from '../response.ts';
import { type RequestContext, type Route, routesOf } from '../route.ts';

const route = routesOf('blobs');
/** Base64 takes four bytes for three; the rest is the JSON around it. */
const BLOB_JSON_BYTES = Math.ceil(LIMITS.blobBytes / 3) * 4 + 16 * 1024;

/** Shown in place: what a browser draws or plays and cannot run. SVG can run, and HTML is HTML. */
const INLINE = /^(?:image\/(?:png|jpeg|gif|webp|avif|bmp)|audio\/[\w.+-]+|video\/[\w.+-]+)$/;

export const blobRoutes = (deps: HttpDeps): Route[] => [
  route('POST', '/v1/blobs', {
    id: 'putBlob',
    summary: 'Store bytes outside JSON: the bytes themselves with their Content-Type, or as base64',
    access: UPLOADERS,
    docsBody: blobBodySchema,
    responses: {
      200: { description: 'The attachment to put into a result', schema: attachmentSchema },
    },
    async handle({ principal, context }) {
      const upload = await readUpload(context);
      countUpload(deps, principal, upload);
      return kept(await deps.blobs.put({ ...upload, owner: principalKey(principal) }));
    },
  }),
  route('GET', '/v1/blobs/:id', {
    id: 'getBlob',
    summary:
      'The bytes. Pictures, sound and video are displayed inline, everything else is a download',
    access: READERS,
    responses: { 200: { description: 'The bytes' } },
    async handle({ principal, params, context }) {
      const blob = await seenBlob(deps, principal, params.id, context.makeRoom);
      if (!blob) throw new HttpError('blob_not_found', 'This blob does not exist.');
      const { 'if-none-match': known } = context.incoming.headers;
      if (known === etag(params.id)) return { status: 304, body: '', headers: cached(params.id) };
      return served(blob.attachment, blob.bytes);
    },
  }),
];

async function readUpload(context: RequestContext): Promise<BlobUpload> {
  const type = context.incoming.headers['content-type'];
  if (type === undefined) {
    throw new HttpError(
      'bad_request',
      'Send a Content-Type that describes the bytes, e.g. image/png.',
    );
  }
  if (!isJsonType(type)) {
    const [mediaType = ''] = type.split(';', 1);
    return { mediaType: mediaType.trim(), bytes: await readBody(context, LIMITS.blobBytes) };
  }
  const { value } = await readJson(context, BLOB_JSON_BYTES);
  const { media_type, data, name, alt } = checkShape(blobBodySchema, value, 'body');
  return {
    mediaType: media_type,
    bytes: Buffer.from(data, 'base64'),
    ...given({ name, alt }),
  };
}

/** Before anything is written; administrators answer for the disk. */
function countUpload({ uploads }: HttpDeps, caller: Caller, { bytes }: BlobUpload): void {
  if (isAdmin(caller)) return;
  const retryAfter = uploads.take(principalKey(caller), bytes.length);
  if (retryAfter === undefined) return;
  throw new HttpError(
    'quota_exceeded',
    `With this token no further ${bytes.length} bytes may be uploaded now. Try again in ${retryAfter} s; blobs.bytes_per_hour of the configuration is the limit.`,
    { retryAfter },
  );
}

const REFUSALS = {
  mismatch: 'unsupported_media_type',
  too_large: 'too_large',
  empty: 'bad_request',
} as const;

function kept(outcome: BlobOutcome): HttpResponse {
  if (outcome.ok) return json(200, outcome.attachment);
  throw new HttpError(REFUSALS[outcome.code], outcome.message);
}

function served(attachment: Attachment, bytes: Uint8Array): HttpResponse {
  const inline = INLINE.test(attachment.media_type);
  return {
    status: 200,
    body: bytes,
    headers: {
      ...cached(attachment.blob_id),
      'content-type': inline ? attachment.media_type : 'application/octet-stream',
      'content-disposition': [inline ? 'inline' : 'attachment', ...fileName(attachment)].join('; '),
      'content-security-policy': "sandbox; default-src 'none'",
      'cross-origin-resource-policy': 'same-origin',
    },
  };
}

/** By content, so it never changes; only the one who was let in may keep it. */
const cached = (id: string) => ({
  'cache-control': 'private, max-age=31536000, immutable',
  etag: etag(id),
});

const etag = (id: string): string => `"${id}"`;

/** RFC 6266: the spelling for every name, percent-encoded, so that nothing in it can end the header. */
const fileName = ({ name }: Attachment): string[] =>
  name === undefined
    ? []
    : [`filename*=UTF-8''${encodeURIComponent(name.toWellFormed()).replaceAll("'", '%27')}`];
