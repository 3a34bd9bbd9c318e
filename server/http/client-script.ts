import type { IncomingMessage, ServerResponse } from 'node:http';
import { writeResponse } from './response.ts';
import { createFileReader, fileResponse, refuseMethod, type ServedFile } from './served-file.ts';

export const CLIENT_SCRIPT_PATH = '/client.js';

export type ReadClientScript = () => Promise<ServedFile>;

/** The file that the build made. */
export function createClientScript(file: string): ReadClientScript {
  const read = createFileReader('The client library');
  return () => read(file);
}

const HEADERS = {
  'content-type': 'text/javascript; charset=utf-8',
  // The same for every caller, and without a secret: pages of any origin may run it. No script can
  // read it, since there is no header of CORS.
  'cross-origin-resource-policy': 'cross-origin',
  'cache-control': 'public, max-age=300',
};

/** Serves the script that makes a page a client (`lib/client/page/script.ts`). */
export async function serveClientScript(
  read: ReadClientScript,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const refusal = refuseMethod(incoming, CLIENT_SCRIPT_PATH);
  writeResponse(outgoing, refusal ?? fileResponse(await read(), incoming, HEADERS));
}
