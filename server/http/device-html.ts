import type { IncomingMessage } from 'node:http';
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

const fileName = z.string().regex(/^[\w-]+\.(?:js|css)$/);

/** As `server/bootstrap/build-device.mjs` writes it. */
const indexSchema = z.object({
  entry: fileName,
  preload: z.array(fileName),
  style: fileName,
  assets: z.array(fileName),
});
export type DeviceIndex = z.infer<typeof indexSchema>;

export const readDeviceIndex = (text: string): DeviceIndex => indexSchema.parse(JSON.parse(text));

type Headers = Pick<IncomingMessage, 'headers'>;

/** A person's choices, which the workbench keeps in cookies. */
function cookie({ headers }: Headers, name: string): string | undefined {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim().split('='));
  return pairs.find(([key]) => key === name)?.[1];
}

const localeOf = (incoming: Headers): Locale =>
  negotiateLocale(cookie(incoming, LOCALE_COOKIE), incoming.headers['accept-language']);

const TEXTS = {
  en: {
    title: 'This device · Callboard',
    noScript:
      'This page needs JavaScript. Allow it for this address in the settings of the browser.',
    name: 'Callboard device',
    description: 'This phone as a device of a Callboard: its tools, and who may use them.',
  },
  zh: {
    title: '此设备 · Callboard',
    noScript: '此页面需要 JavaScript。请在浏览器设置中为此地址启用它。',
    name: 'Callboard 设备',
    description: '将此手机作为 Callboard 的设备：它的工具，以及谁可以使用。',
  },
} as const;

/** The page without its content, which its script draws. Language and theme are there before it. */
export function deviceHtml(index: DeviceIndex, incoming: Headers, nonce: string): string {
  const locale = localeOf(incoming);
  const theme = toTheme(cookie(incoming, THEME_COOKIE));
  const preloads = index.preload
    .map((name) => `<link rel="modulepreload" nonce="${nonce}" href="/device/assets/${name}">`)
    .join('');
  return `<!doctype html>
<html lang="${LANGUAGE_TAGS[locale]}" data-theme="${theme}"><head><meta charset="utf-8">
<title>${TEXTS[locale].title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="theme-color" content="#0d1014">
<link rel="manifest" href="/device/manifest.webmanifest">
<link rel="icon" href="/device/icon-192.png" type="image/png">
<link rel="apple-touch-icon" href="/device/apple-touch-icon.png">
<link rel="stylesheet" href="/device/assets/${index.style}">
${preloads}<script type="module" nonce="${nonce}" src="/device/assets/${index.entry}"></script>
</head><body><script nonce="${nonce}">${oldBrowserCheck(locale)}</script><div id="device"></div><noscript>${TEXTS[locale].noScript}</noscript></body></html>
`;
}

export function deviceManifest(incoming: Headers) {
  const locale = localeOf(incoming);
  const icon = (src: string, sizes: string, purpose: 'any' | 'maskable') => ({
    ...{ src: `/device/${src}`, sizes, purpose },
    type: 'image/png',
  });
  return {
    id: '/device',
    name: TEXTS[locale].name,
    short_name: 'Callboard',
    description: TEXTS[locale].description,
    lang: LANGUAGE_TAGS[locale],
    start_url: '/device',
    // A link of pairing lies at `/pair`: outside of the scope the installed app would show a bar.
    scope: '/',
    display: 'standalone',
    background_color: '#0d1014',
    theme_color: '#0d1014',
    icons: [
      icon('icon-192.png', '192x192', 'any'),
      icon('icon-512.png', '512x512', 'any'),
      icon('icon-maskable-512.png', '512x512', 'maskable'),
    ],
  };
}
