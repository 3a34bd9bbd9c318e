import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { HttpError } from '#lib/protocol/http-error';
import { isMissing } from '#lib/util/is-missing';
import { errorResponse } from './error-response.ts';
import { writeResponse } from './response.ts';

export const CLIENT_SCRIPT_PATH = '/client.js';

/** Both as they are sent. */
export interface ClientScript {
  readonly plain: Buffer;
  readonly gzipped: Buffer;
}

/** The file that the build made; read when it is first asked for, and compressed once. */
export function createClientScript(file: string): () => Promise<ClientScript> {
  let reading: Promise<ClientScript> | undefined;
  const read = async () => {
    const plain = await readFile(file);
    return { plain, gzipped: await promisify(gzip)(plain, { level: 9 }) };
  };
  return () => {
    reading ??= read().catch((error: unknown) => {
      reading = undefined;
      if (!isMissing(error)) throw error;
      throw new HttpError('not_found', 'The client library is not built; npm run build makes it.');
    });
    return reading;
  };
}

const HEADERS = {
  'content-type': 'text/javascript; charset=utf-8',
  // The same for every caller, and without a secret: pages of any origin may run it. No script can
  // read it, since there is no header of CORS.
  'cross-origin-resource-policy': 'cross-origin',
  'cache-control': 'public, max-age=300',
  vary: 'accept-encoding',
};

/** Serves the script that makes a page a client (`lib/client/page/script.ts`). */
export async function serveClientScript(
  read: () => Promise<ClientScript>,
  { method, headers }: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  if (method !== 'GET' && method !== 'HEAD') {
    const message = `${CLIENT_SCRIPT_PATH} accepts GET, not ${method}.`;
    const refusal = errorResponse(new HttpError('method_not_allowed', message));
    return writeResponse(outgoing, { ...refusal, headers: { allow: 'GET, HEAD' } });
  }
  const { plain, gzipped } = await read();
  const isGzipped = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:$|[\s,]))/.test(
    String(headers['accept-encoding'] ?? ''),
  );
  writeResponse(outgoing, {
    status: 200,
    body: isGzipped ? gzipped : plain,
    headers: { ...HEADERS, ...(isGzipped ? { 'content-encoding': 'gzip' } : {}) },
  });
}
