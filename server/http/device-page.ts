import { readFile } from 'node:fs/promises';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { HttpError } from '#lib/protocol/http-error';
import { isMissing } from '#lib/util/is-missing';
import { foreignFetch, isForeignFetch } from '../auth/host-gate.ts';
import type { PeerOf } from '../auth/peer.ts';
import { deviceHtml, deviceManifest, readDeviceIndex } from './device-html.ts';
import { errorResponse } from './error-response.ts';
import { type PageHeadersOptions, setDevicePageHeaders } from './page-headers.ts';
import type { Target } from './parse-target.ts';
import { type HttpResponse, writeResponse } from './response.ts';

/** All that the device page is made of, the links of pairing, and the service worker of push notes. */
const DEVICE_PATH = /^\/(?:(?:device|pair)(?:\/.*)?|push\/sw\.js)$/;
const PAGE_PATH = /^\/(?:device|pair(?:\/[A-Za-z0-9 %-]{1,32})?)$/;
const FILES: Readonly<Record<string, string>> = {
  '/device/sw.js': 'sw.js',
  '/push/sw.js': 'push-sw.js',
  '/device/icon-192.png': 'icon-192.png',
  '/device/icon-512.png': 'icon-512.png',
  '/device/icon-maskable-512.png': 'icon-maskable-512.png',
  '/device/apple-touch-icon.png': 'apple-touch-icon.png',
};
const ASSETS = '/device/assets/';

export const isDevicePath = (pathname: string): boolean => DEVICE_PATH.test(pathname);

export interface DevicePageDeps {
  /** The folder that the build made. */
  readonly dir: string;
  readonly newNonce: () => string;
  readonly peerOf: PeerOf;
  readonly strictTransport: PageHeadersOptions['strictTransport'];
}

export type DevicePage = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  target: Target,
) => Promise<void>;

/** A file as it is sent. */
interface ServedFile {
  readonly plain: Buffer;
  readonly gzipped: Buffer | undefined;
}

/**
 * The page of a phone, and what belongs to it: the same for every caller and without a secret, so
 * it needs no credential. Rules: DP in components/device/SPEC.md.
 */
export function createDevicePage(deps: DevicePageDeps): DevicePage {
  const { dir, newNonce, peerOf, strictTransport } = deps;
  const known = new Map<string, Promise<ServedFile>>();
  const read = (name: string): Promise<ServedFile> => {
    const reading = known.get(name) ?? readServed(join(dir, name));
    known.set(name, reading);
    reading.catch(() => known.delete(name));
    return reading;
  };
  const readIndex = async () => readDeviceIndex(String((await read('index.json')).plain));

  async function answer(incoming: IncomingMessage, pathname: string, nonce: string) {
    if (PAGE_PATH.test(pathname)) return page(deviceHtml(await readIndex(), incoming, nonce));
    if (pathname === '/device/manifest.webmanifest') return manifest(incoming);
    const isAsset = pathname.startsWith(ASSETS);
    const name = isAsset ? pathname.slice(ASSETS.length) : FILES[pathname];
    // By the list of the build: no name of a caller's reaches the disk.
    if (name === undefined || (isAsset && !(await readIndex()).assets.includes(name))) {
      return errorResponse(new HttpError('not_found', 'The device page has no such file.'));
    }
    return file(await read(name), name, incoming, isAsset);
  }

  return async (incoming, outgoing, { pathname }) => {
    const nonce = newNonce();
    const policy = setDevicePageHeaders(outgoing, {
      ...{ nonce, host: incoming.headers.host ?? '', strictTransport },
      isSecure: peerOf(incoming).isSecure,
    });
    const made = refuse(incoming) ?? (await answer(incoming, pathname, nonce));
    // What is no page keeps the policy of pages: the service worker is bound by its own.
    const headers = { 'content-security-policy': policy, ...made.headers };
    writeResponse(outgoing, { ...made, headers });
  };
}

/** Another site may link to the page, and not embed or fetch it. */
function refuse({ headers, method }: IncomingMessage): HttpResponse | undefined {
  if (isForeignFetch(headers) && headers['sec-fetch-mode'] !== 'navigate') {
    return errorResponse(new HttpError(foreignFetch.code, foreignFetch.message));
  }
  if (method === 'GET' || method === 'HEAD') return undefined;
  const refusal = errorResponse(
    new HttpError('method_not_allowed', `The device page accepts GET, not ${method}.`),
  );
  return { ...refusal, headers: { allow: 'GET, HEAD' } };
}

const page = (body: string): HttpResponse => ({
  status: 200,
  body,
  // It has the nonce of this answer, and its address may have a code.
  headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' },
});

const manifest = (incoming: IncomingMessage): HttpResponse => ({
  status: 200,
  body: JSON.stringify(deviceManifest(incoming)),
  headers: { 'content-type': 'application/manifest+json', 'cache-control': 'no-cache' },
});

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  png: 'image/png',
};

function file(
  { plain, gzipped }: ServedFile,
  name: string,
  { headers }: IncomingMessage,
  isAsset: boolean,
): HttpResponse {
  const isGzipped = gzipped && acceptsGzip(headers['accept-encoding']);
  const extra: OutgoingHttpHeaders = {
    ...(isGzipped ? { 'content-encoding': 'gzip' } : {}),
    // It lies below the page that it serves.
    ...(name === 'sw.js' ? { 'service-worker-allowed': '/device' } : {}),
  };
  return {
    status: 200,
    body: isGzipped ? gzipped : plain,
    headers: {
      'content-type': TYPES[name.slice(name.lastIndexOf('.') + 1)],
      'cache-control': isAsset ? 'public, max-age=31536000, immutable' : 'no-cache',
      vary: 'accept-encoding',
      ...extra,
    },
  };
}

/** Also as one of several, and not where its weight is 0. */
const acceptsGzip = (accepted: string | string[] | undefined): boolean =>
  /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:$|[\s,]))/.test(String(accepted ?? ''));

/** Compressed once. A picture is already. */
async function readServed(path: string): Promise<ServedFile> {
  const plain = await readFile(path).catch((error: unknown) => {
    if (!isMissing(error)) throw error;
    throw new HttpError('not_found', 'The device page is not built; npm run build makes it.');
  });
  const isText = !path.endsWith('.png');
  return { plain, gzipped: isText ? await promisify(gzip)(plain, { level: 9 }) : undefined };
}
