import { z } from 'zod';
import { closedObject } from '#lib/protocol/closed-object';

const HOST = /^(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)+$/;

/** Web Push to browsers of people and to paired phones. */
export const pushConfigSchema = closedObject({
  enabled: z.boolean().default(true),
  /** Push services besides those that are known. Port 443 alone. */
  hosts: z
    .array(
      z
        .string()
        .toLowerCase()
        .regex(HOST, 'must be a host without a port, such as push.example.org or *.example.org'),
    )
    .max(64)
    .default([]),
  /** How a push service reaches the one who runs this server. */
  subject: z
    .string()
    .max(256)
    .regex(
      /^(?:mailto:[^\s<>@]+@[^\s<>@]+\.[^\s<>@]+|https:\/\/[^\s<>/]+\S*)$/,
      'must be an address such as mailto:you@example.org or https://board.example.org',
    )
    .optional(),
}).prefault({});
export type PushConfig = z.output<typeof pushConfigSchema>;
