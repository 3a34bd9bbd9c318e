import { z } from 'zod';

/** Browsers give these to secure contexts alone. */
export const NEEDS_SECURE_CONTEXT = [
  'camera',
  'microphone',
  'geolocation',
  'clipboard',
  'notifications',
  'sensors',
  'service_worker',
  'share',
] as const;

/** A browser withholds this from a page at an address, or it does not work there. */
export const lackSchema = z.enum([
  ...NEEDS_SECURE_CONTEXT,
  /** iOS takes no WebSocket with a private certificate; the other transport is used. */
  'socket_on_ios',
]);
export type Lack = z.infer<typeof lackSchema>;

export const reachAddressSchema = z.object({
  origin: z.string(),
  scheme: z.enum(['http', 'https']),
  /** It is reached by everybody who reaches the proxy, by the network of this machine, or by this machine alone. */
  from: z.enum(['proxy', 'network', 'this_machine']),
  /** The own CA is to be installed first; else the browser warns. */
  needs_trust: z.boolean(),
  lacks: z.array(lackSchema),
});
export type ReachAddress = z.infer<typeof reachAddressSchema>;

/** Under which addresses this server can be reached, most likely first: `GET /v1/reach`. */
export const reachSchema = z.object({
  /** Whose certificate: this server's own CA, one that was given, that of a proxy, none. */
  tls: z.enum(['own', 'given', 'proxy', 'none']),
  /** Others than this machine reach it. */
  open: z.boolean(),
  /** By `--insecure-plaintext-lan`: everyone on the network can read what is sent. */
  plaintext: z.boolean(),
  ca: z
    .object({
      /** SHA-256 in hex, pairs with colons. */
      fingerprint: z.string(),
      name: z.string(),
      /** Unix seconds. */
      expires_at: z.number(),
      /** Path of the page that shows how to install it. */
      page: z.string(),
    })
    .nullable(),
  addresses: z.array(reachAddressSchema),
});
export type Reach = z.infer<typeof reachSchema>;
