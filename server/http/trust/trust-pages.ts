import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { HttpError } from '#lib/protocol/http-error';
import { errorResponse } from '../error-response.ts';
import type { HttpResponse } from '../response.ts';
import { mobileConfig } from './mobile-config.ts';
import { trustPage } from './trust-page.ts';
import { trustTexts } from './trust-texts.ts';

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
    if (method !== 'GET' && method !== 'HEAD') {
      const message = `${pathname} accepts GET, not ${method}.`;
      const refusal = errorResponse(new HttpError('method_not_allowed', message));
      return { ...refusal, headers: { allow: 'GET, HEAD' } };
    }
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
    body: trustPage(trustTexts(language), { ...ca, nonce }),
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `default-src 'none'; style-src 'nonce-${nonce}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`,
      'referrer-policy': 'no-referrer',
      vary: 'accept-language',
    },
  };
}
