import type { ServerResponse } from 'node:http';

export interface PageHeadersOptions {
  /** Fresh for each answer: base64 of random bytes. */
  readonly nonce: string;
  /** The `Host` that was asked for, already checked by the host gate. */
  readonly host: string;
  /** It came by https. */
  readonly isSecure: boolean;
  /** All ports of this host may be held to https. */
  readonly strictTransport: (host: string) => boolean;
  /** The development server evaluates code. */
  readonly development: boolean;
}

/** A page may load and run this alone, which makes a markdown image or a script tag harmless. */
function contentSecurityPolicy({ nonce, host, isSecure, development }: PageHeadersOptions): string {
  return [
    "default-src 'self'",
    `script-src 'nonce-${nonce}' 'strict-dynamic'${development ? " 'unsafe-eval'" : ''}`,
    // Radix and the virtual list set styles on elements; a style cannot read or send anything here.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' blob: data:",
    "media-src 'self' blob:",
    "font-src 'self' data:",
    // Safari does not take 'self' for sockets. By http both: a proxy that is not named may have TLS.
    `connect-src 'self' ${isSecure ? '' : `ws://${host} `}wss://${host}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "object-src 'none'",
    // Push notes need a worker. The page of a phone alone makes workers by itself.
    "worker-src 'self'",
  ].join('; ');
}

const FIXED_HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  // The tab is a client: these are its tools. Everything else stays off.
  'permissions-policy': [
    ...['camera', 'microphone', 'geolocation', 'clipboard-read', 'clipboard-write'],
    ...['display-capture', 'web-share', 'accelerometer', 'gyroscope', 'magnetometer'],
  ]
    .map((name) => `${name}=(self)`)
    .concat('usb=()', 'payment=()')
    .join(', '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const;

/**
 * The page of a phone has tools that record sound too. What is not named is allowed to this page
 * alone by default: motion sensors, sharing, keeping the screen on.
 */
const DEVICE_PERMISSIONS = FIXED_HEADERS['permissions-policy'].replace(
  /microphone=\([a-z]*\)/,
  'microphone=(self)',
);

/** Sets what every answer under the page paths carries, redirects and errors too. Returns the policy. */
export function setPageHeaders(outgoing: ServerResponse, options: PageHeadersOptions): string {
  const policy = contentSecurityPolicy(options);
  outgoing.setHeader('content-security-policy', policy);
  for (const [name, value] of Object.entries(FIXED_HEADERS)) outgoing.setHeader(name, value);
  if (options.isSecure && options.strictTransport(options.host)) {
    outgoing.setHeader('strict-transport-security', `max-age=${180 * 24 * 3_600}`);
  }
  return policy;
}

/** The same for the page of a phone, which has a service worker. Returns the policy. */
export function setDevicePageHeaders(
  outgoing: ServerResponse,
  options: Omit<PageHeadersOptions, 'development'>,
): string {
  const pages = setPageHeaders(outgoing, { ...options, development: false });
  const policy = `${pages} blob:; manifest-src 'self'`;
  outgoing.setHeader('content-security-policy', policy);
  outgoing.setHeader('permissions-policy', DEVICE_PERMISSIONS);
  return policy;
}
