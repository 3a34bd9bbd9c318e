import { z } from 'zod';
import { callErrorCodeSchema } from '#lib/protocol/call-status';
import { closedObject } from '#lib/protocol/closed-object';
import { NOTICE_TYPES } from '#lib/protocol/notice';
import { ConfigError } from '../base/config-error.ts';
import { ConfigTexts, type Given } from '../base/config-variables.ts';

/** The configuration file may have so many targets. */
const MOST_TARGETS = 32;

const text = z.string().min(1).max(2_048);

const filters = {
  /** All but `call.finished` and `client.offline` where not given. */
  events: z.array(z.enum(NOTICE_TYPES)).nonempty().optional(),
  /** Calls of these tools alone; names as in `policy`. */
  tools: z.array(text).nonempty().max(200).optional(),
  /** They are for `call.finished`: `ok`, or codes of errors. */
  outcomes: z
    .array(z.enum(['ok', ...callErrorCodeSchema.options]))
    .nonempty()
    .optional(),
};

const webhookSchema = closedObject({
  kind: z.literal('webhook'),
  url: text,
  /** The first signs, as do the others: a receiver accepts any of them while a secret is replaced. */
  secret: z.union([text, z.array(text).nonempty().max(4)], {
    error: 'it must be a secret, or a list of one to four: the new one, and those before it',
  }),
  ...filters,
  /** These values of a call are sent besides, read from its record. */
  include: z.array(z.enum(['arguments', 'result'])).default([]),
});
const slackSchema = closedObject({ kind: z.literal('slack'), url: text, ...filters });
const ntfySchema = closedObject({
  kind: z.literal('ntfy'),
  /** The address of the server, without the topic. */
  url: text,
  topic: text,
  token: text.optional(),
  ...filters,
});

/** Targets of notices, by name. `${env:NAME}` in an address, a secret, a topic or a token is a variable's value. */
export const notifyConfigSchema = z
  .record(
    z
      .string()
      .regex(
        /^[a-z0-9][a-z0-9_-]{0,31}$/,
        'must have only a to z, 0 to 9, _ and -, at most 32 characters',
      ),
    z.discriminatedUnion('kind', [webhookSchema, slackSchema, ntfySchema], {
      error: 'its kind must be "webhook", "slack" or "ntfy"',
    }),
  )
  .refine((targets) => Object.keys(targets).length <= MOST_TARGETS, {
    error: `it may have ${MOST_TARGETS} targets at most`,
  })
  .default({});

type Written = z.infer<typeof notifyConfigSchema>[string];
type Settings<Kind extends Written['kind']> = Readonly<
  Omit<Extract<Written, { kind: Kind }>, 'url' | 'secret'>
> & { readonly url: URL };

/** It has the keys themselves, and not their spelling. */
export type WebhookSettings = Settings<'webhook'> & { readonly keys: readonly Buffer[] };
export type SlackSettings = Settings<'slack'>;
export type NtfySettings = Settings<'ntfy'>;
export type TargetSettings = WebhookSettings | SlackSettings | NtfySettings;

export interface NotifySettings {
  readonly targets: ReadonlyMap<string, TargetSettings>;
  /** No record, log and page has these. */
  readonly secrets: readonly string[];
}

/** The targets as they are used. Throws `ConfigError`, which has no value of a variable. */
export function readNotify(
  written: Readonly<Record<string, Written>>,
  given: Given,
  file: string,
): NotifySettings {
  const texts = new ConfigTexts(given);
  const targets = Object.entries(written).map(
    ([name, target]) => [name, readTarget(target, `${file}: notify.${name}`, texts)] as const,
  );
  return { targets: new Map(targets), secrets: texts.secrets };
}

function readTarget(target: Written, place: string, texts: ConfigTexts): TargetSettings {
  const secret = (field: string, text: string) => {
    const value = texts.fill(`${place}.${field}`, text);
    texts.keepSecret(value);
    return value;
  };
  switch (target.kind) {
    case 'webhook': {
      const { secret: written, ...rest } = target;
      const keys = [written].flat().map((one) => readKey(secret('secret', one), place));
      for (const { text } of keys) texts.keepSecret(text);
      return { ...rest, url: readUrl(target.url, place, texts), keys: keys.map(({ key }) => key) };
    }
    case 'slack': {
      const url = readUrl(target.url, place, texts);
      // Anyone who has it sends to the channel.
      texts.keepSecret(url.pathname);
      return { ...target, url };
    }
    case 'ntfy': {
      const url = readUrl(target.url, place, texts);
      const topic = texts.fill(`${place}.topic`, target.topic);
      return { ...target, url, topic, token: target.token && secret('token', target.token) };
    }
  }
}

function readUrl(text: string, place: string, texts: ConfigTexts): URL {
  const url = URL.parse(texts.fill(`${place}.url`, text));
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.hash !== '') {
    const right = 'such as https://receiver.example/hook, without a user and without #';
    throw new ConfigError(`${place}.url must be an http or https address, ${right}`);
  }
  if (url.pathname !== '/' || url.search !== '') texts.keepSecret(url.href);
  return url;
}

const KEY_BYTES = { least: 24, most: 64 };

function readKey(secret: string, place: string): { readonly key: Buffer; readonly text: string } {
  const [, text = ''] = /^whsec_([A-Za-z0-9+/]+=*)$/.exec(secret) ?? [];
  const key = Buffer.from(text, 'base64');
  const isWhole = key.toString('base64').replace(/=+$/, '') === text.replace(/=+$/, '');
  if (isWhole && key.length >= KEY_BYTES.least && key.length <= KEY_BYTES.most) {
    return { key, text };
  }
  throw new ConfigError(
    `${place}.secret must be whsec_ and the base64 of ${KEY_BYTES.least} to ${KEY_BYTES.most} random bytes, such as the output of: echo whsec_$(openssl rand -base64 32)`,
  );
}
