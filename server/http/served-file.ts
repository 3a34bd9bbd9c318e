import { readFile } from 'node:fs/promises';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { HttpError } from '#lib/protocol/http-error';
import { isMissing } from '#lib/util/is-missing';
import { errorResponse } from './error-response.ts';
import { type HttpResponse, writeResponse } from './response.ts';

/** A file of the build as it is sent. A picture is compressed already. */
export interface ServedFile {
  readonly plain: Buffer;
  readonly gzipped: Buffer | undefined;
}

/** Reads each file when it is first asked for, and compresses it once. `what` the build makes of them. */
export function createFileReader(what: string): (path: string) => Promise<ServedFile> {
  const known = new Map<string, Promise<ServedFile>>();
  return (path) => {
    const reading = known.get(path) ?? readServed(path, what);
    known.set(path, reading);
    reading.catch(() => known.delete(path));
    return reading;
  };
}

async function readServed(path: string, what: string): Promise<ServedFile> {
  const plain = await readFile(path).catch((error: unknown) => {
    if (!isMissing(error)) throw error;
    throw new HttpError('not_found', `${what} is not built; npm run build makes it.`);
  });
  const isText = !path.endsWith('.png');
  return { plain, gzipped: isText ? await promisify(gzip)(plain, { level: 9 }) : undefined };
}

/** The file, compressed for those who take it so: also as one of several ways, and not where its weight is 0. */
export function fileResponse(
  { plain, gzipped }: ServedFile,
  { headers: asked }: IncomingMessage,
  headers: OutgoingHttpHeaders,
): HttpResponse {
  const accepted = String(asked['accept-encoding'] ?? '');
  const isGzipped = gzipped && /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:$|[\s,]))/.test(accepted);
  const encoding = isGzipped ? { 'content-encoding': 'gzip' } : {};
  return {
    status: 200,
    body: isGzipped ? gzipped : plain,
    headers: { ...headers, vary: 'accept-encoding', ...encoding },
  };
}

/** Files are only read: all other methods are refused. */
export function refuseMethod(
  { method }: Pick<IncomingMessage, 'method'>,
  what: string,
): HttpResponse | undefined {
  if (method === 'GET' || method === 'HEAD') return undefined;
  const refusal = new HttpError('method_not_allowed', `${what} accepts GET, not ${method}.`);
  return { ...errorResponse(refusal), headers: { allow: 'GET, HEAD' } };
}

export const CLIENT_SCRIPT_PATH = '/client.js';

const HEADERS = {
  'content-type': 'text/javascript; charset=utf-8',
  // The same for every caller, and without a secret: pages of any origin may run it. No script can
  // read it, since there is no header of CORS.
  'cross-origin-resource-policy': 'cross-origin',
  'cache-control': 'public, max-age=300',
};

export type ServeClientScript = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
) => Promise<void>;

/** Serves the script that makes a page a client (`lib/client/page/script.ts`), which the build made. */
export function createClientScript(file: string): ServeClientScript {
  const read = createFileReader('The client library');
  return async (incoming, outgoing) => {
    const refusal = refuseMethod(incoming, CLIENT_SCRIPT_PATH);
    writeResponse(outgoing, refusal ?? fileResponse(await read(file), incoming, HEADERS));
  };
}
