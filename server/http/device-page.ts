import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { z } from 'zod';
import {
  LANGUAGE_TAGS,
  LOCALE_COOKIE,
  type Locale,
  negotiateLocale,
  THEME_COOKIE,
  toTheme,
} from '#lib/i18n/locales';
import { oldBrowserCheck } from '#lib/i18n/oldest-browsers';
import { HttpError } from '#lib/protocol/http-error';
import { foreignFetch, isForeignFetch, type PeerOf } from '../auth/room.ts';
import manifestBase from './device-manifest.json' with { type: 'json' };
import { errorResponse } from './error-response.ts';
import { type PageHeadersOptions, setDevicePageHeaders } from './page-headers.ts';
import { type HttpResponse, writeResponse } from './response.ts';
import type { Target } from './route-table.ts';
import { createFileReader, fileResponse, refuseMethod } from './served-file.ts';
import { TEXTS } from './served-texts.ts';

const fileName = z.string().regex(/^[\w-]+\.(?:js|css)$/);

/** `server/bootstrap/build-device.mjs` writes it. */
const indexSchema = z.object({
  entry: fileName,
  preload: z.array(fileName),
  style: fileName,
  assets: z.array(fileName),
});
type DeviceIndex = z.infer<typeof indexSchema>;

const readDeviceIndex = (text: string): DeviceIndex => indexSchema.parse(JSON.parse(text));

type Headers = Pick<IncomingMessage, 'headers'>;

/** A person's choices, which the workbench keeps in cookies. */
function cookie({ headers }: Headers, name: string): string | undefined {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim().split('='));
  return pairs.find(([key]) => key === name)?.[1];
}

const localeOf = (incoming: Headers): Locale =>
  negotiateLocale(cookie(incoming, LOCALE_COOKIE), incoming.headers['accept-language']);

/** The page without its content, which its script draws. Language and theme are there before it. */
function deviceHtml(index: DeviceIndex, incoming: Headers, nonce: string): string {
  const locale = localeOf(incoming);
  const texts = TEXTS[locale].device;
  const theme = toTheme(cookie(incoming, THEME_COOKIE));
  const preloads = index.preload
    .map((name) => `<link rel="modulepreload" nonce="${nonce}" href="/device/assets/${name}">`)
    .join('');
  return `<!doctype html>
<html lang="${LANGUAGE_TAGS[locale]}" data-theme="${theme}"><head><meta charset="utf-8">
<title>${texts.title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="theme-color" content="#0d1014">
<link rel="manifest" href="/device/manifest.webmanifest">
<link rel="icon" href="/device/icon-192.png" type="image/png">
<link rel="apple-touch-icon" href="/device/apple-touch-icon.png">
<link rel="stylesheet" href="/device/assets/${index.style}">
${preloads}<script type="module" nonce="${nonce}" src="/device/assets/${index.entry}"></script>
</head><body><script nonce="${nonce}">${oldBrowserCheck(locale)}</script><div id="device"></div><noscript>${texts.noScript}</noscript></body></html>
`;
}

/** A link of pairing lies at `/pair`: outside of its scope, `/`, the installed app would show a bar. */
function deviceManifest(incoming: Headers) {
  const locale = localeOf(incoming);
  const { name, description } = TEXTS[locale].device;
  return { ...manifestBase, name, description, lang: LANGUAGE_TAGS[locale] };
}

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

/**
 * The page of a phone, and what belongs to it: the same for every caller and without a secret, so
 * it needs no credential. Rules: DP in components/device/SPEC.md.
 */
export function createDevicePage(deps: DevicePageDeps): DevicePage {
  const { dir, newNonce, peerOf, strictTransport } = deps;
  const readFile = createFileReader('The device page');
  const read = (name: string) => readFile(join(dir, name));
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
    return fileResponse(await read(name), incoming, fileHeaders(name, isAsset));
  }

  return async (incoming, outgoing, { pathname }) => {
    const nonce = newNonce();
    const policy = setDevicePageHeaders(outgoing, {
      nonce,
      host: incoming.headers.host ?? '',
      strictTransport,
      isSecure: peerOf(incoming).isSecure,
    });
    const made = refuse(incoming) ?? (await answer(incoming, pathname, nonce));
    // Other answers keep the policy of pages: the service worker is bound by its own.
    const headers = { 'content-security-policy': policy, ...made.headers };
    writeResponse(outgoing, { ...made, headers });
  };
}

/** Another site may link to the page, and not embed or fetch it. */
function refuse(incoming: IncomingMessage): HttpResponse | undefined {
  const { headers } = incoming;
  if (isForeignFetch(headers) && headers['sec-fetch-mode'] !== 'navigate') {
    return errorResponse(new HttpError(foreignFetch.code, foreignFetch.message));
  }
  return refuseMethod(incoming, 'The device page');
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

const fileHeaders = (name: string, isAsset: boolean) => ({
  'content-type': TYPES[name.slice(name.lastIndexOf('.') + 1)],
  'cache-control': isAsset ? 'public, max-age=31536000, immutable' : 'no-cache',
  // It lies below the page that it serves.
  ...(name === 'sw.js' ? { 'service-worker-allowed': '/device' } : {}),
});
