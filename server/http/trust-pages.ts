import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type Locale, negotiateLocale } from '#lib/i18n/locales';
import { HttpError } from '#lib/protocol/http-error';
import { errorResponse } from './error-response.ts';
import type { HttpResponse } from './response.ts';
import { refuseMethod } from './served-file.ts';
import { TEXTS } from './served-texts.ts';

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** For texts and values of attributes, of HTML and of XML. */
const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');

const STYLE = `
:root{color-scheme:light dark;--ground:#fbfbfa;--text:#1c1b1a;--quiet:#57534e;--line:#d6d3d1;--link:#1d4ed8}
@media (prefers-color-scheme:dark){:root{--ground:#161514;--text:#f2f0ee;--quiet:#a8a29e;--line:#44403c;--link:#93b4ff}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--text);font:16px/1.55 system-ui,sans-serif}
main{max-width:42rem;margin:0 auto;padding:1.25rem 1rem 3rem}
h1{font-size:1.5rem;line-height:1.25;margin:.5rem 0 1rem}
p,li{overflow-wrap:anywhere}
ol{padding-left:1.4rem;margin:.5rem 0 1rem}
li{margin:.4rem 0}
a{color:var(--link);padding:.2rem 0}
a:focus-visible,summary:focus-visible{outline:2px solid var(--link);outline-offset:2px;border-radius:2px}
code{display:block;padding:.75rem;border:1px solid var(--line);border-radius:.5rem;font:14px/1.7 ui-monospace,monospace;overflow-wrap:anywhere}
.quiet{color:var(--quiet)}
.files a{display:block;padding:.75rem;margin:.5rem 0;border:1px solid var(--line);border-radius:.5rem}
details{border-top:1px solid var(--line)}
summary{padding:.75rem 0;font-weight:600;cursor:pointer}
`;

/** The page, for browsers without scripts and narrow screens. */
function trustPage(
  locale: Locale,
  facts: { readonly fingerprint: string; readonly name: string; readonly nonce: string },
): string {
  const texts = TEXTS[locale].trust;
  const links: Record<string, string> = {
    file: `<a href="/trust/ca.crt">${escapeHtml(texts.file)}</a>`,
    profile: `<a href="/trust/ca.mobileconfig">${escapeHtml(texts.profile)}</a>`,
  };
  const step = (text: string) =>
    `<li>${escapeHtml(text).replace(/\{(\w+)\}/g, (_, name: string) => links[name] ?? '')}</li>`;
  const guides = texts.guides.map(
    ({ system, steps }) =>
      `<details open><summary>${escapeHtml(system)}</summary><ol>${steps.map(step).join('')}</ol></details>`,
  );
  return `<!doctype html>
<html lang="${locale}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(texts.title)}</title>
<style nonce="${facts.nonce}">${STYLE}</style>
</head>
<body><main>
<h1>${escapeHtml(texts.title)}</h1>
<p>${escapeHtml(texts.intro)}</p>
<p>${escapeHtml(texts.compare)}</p>
<p class="quiet" id="fingerprint">${escapeHtml(texts.fingerprint)}: ${escapeHtml(facts.name)}</p>
<code aria-labelledby="fingerprint">${escapeHtml(facts.fingerprint)}</code>
<p class="files">${links.file}${links.profile}</p>
${guides.join('\n')}
<p class="quiet">${escapeHtml(texts.effect)} ${escapeHtml(texts.removal)}</p>
</main></body>
</html>
`;
}

/** The own CA, as people install it. */
export interface TrustFacts {
  readonly der: Uint8Array;
  readonly fingerprint: string;
  readonly name: string;
}

const PATH = /^\/trust(?:\/ca\.(?:crt|mobileconfig))?$/;

/**
 * The page that tells how to install the own CA, and its files: for every caller,
 * since a phone comes here before it has any credential. They hold no secret.
 */
export function createTrustPages(
  facts: () => TrustFacts | undefined,
): (incoming: IncomingMessage, pathname: string) => HttpResponse | undefined {
  return ({ method, headers }, pathname) => {
    if (!PATH.test(pathname)) return undefined;
    const ca = facts();
    if (ca === undefined) {
      const message = 'This server has no CA of its own to install; --lan makes one.';
      return errorResponse(new HttpError('not_found', message));
    }
    const refusal = refuseMethod({ method }, pathname);
    if (refusal) return refusal;
    if (pathname === '/trust/ca.crt') {
      return file(ca.der, 'application/x-x509-ca-cert', 'callboard-ca.crt');
    }
    if (pathname === '/trust/ca.mobileconfig') {
      return file(mobileConfig(ca), 'application/x-apple-aspen-config', 'callboard.mobileconfig');
    }
    return page(ca, headers['accept-language']);
  };
}

const file = (body: string | Uint8Array, type: string, name: string): HttpResponse => ({
  status: 200,
  body,
  headers: { 'content-type': type, 'content-disposition': `attachment; filename="${name}"` },
});

function page(ca: TrustFacts, language: string | undefined): HttpResponse {
  const nonce = randomBytes(16).toString('base64');
  return {
    status: 200,
    body: trustPage(negotiateLocale(undefined, language), { ...ca, nonce }),
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `default-src 'none'; style-src 'nonce-${nonce}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`,
      'referrer-policy': 'no-referrer',
      vary: 'accept-language',
    },
  };
}

/** A profile with the CA for iOS: not signed, so that iOS shows it as what it is. The same CA has the same profile. */
function mobileConfig(ca: { readonly der: Uint8Array; readonly name: string }): string {
  const name = escapeHtml(ca.name);
  const content = Buffer.from(ca.der).toString('base64');
  const profile = uuidOf('profile', ca.der);
  const certificate = uuidOf('certificate', ca.der);
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>PayloadContent</key>
  <array>
    <dict>
      <key>PayloadCertificateFileName</key><string>callboard-ca.crt</string>
      <key>PayloadContent</key><data>${content}</data>
      <key>PayloadDescription</key><string>${name}</string>
      <key>PayloadDisplayName</key><string>${name}</string>
      <key>PayloadIdentifier</key><string>callboard.ca.${certificate}</string>
      <key>PayloadType</key><string>com.apple.security.root</string>
      <key>PayloadUUID</key><string>${certificate}</string>
      <key>PayloadVersion</key><integer>1</integer>
    </dict>
  </array>
  <key>PayloadDisplayName</key><string>${name}</string>
  <key>PayloadIdentifier</key><string>callboard.profile.${profile}</string>
  <key>PayloadRemovalDisallowed</key><false/>
  <key>PayloadType</key><string>Configuration</string>
  <key>PayloadUUID</key><string>${profile}</string>
  <key>PayloadVersion</key><integer>1</integer>
</dict>
</plist>
`;
}

/** A UUID of version 8 holds what its maker wants. */
function uuidOf(what: string, der: Uint8Array): string {
  const hex = createHash('sha256').update(what).update(der).digest('hex');
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `a${hex.slice(17, 20)}`,
  ];
  return [...parts, hex.slice(20, 32)].join('-').toUpperCase();
}
