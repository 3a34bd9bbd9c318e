import { z } from 'zod';
import { mapTexts } from '#lib/text/redact';

/** A provider says this of a part, by provider, e.g. a signature. It is sent back as it came. */
const metadataSchema = z.record(z.string(), z.record(z.string(), z.json()));
export type ReplayMetadata = z.infer<typeof metadataSchema>;

const replayPartSchema = z.object({
  at: z.number().int(),
  metadata: metadataSchema.optional(),
  /** Reasoning that is longer than what the message shows of it. */
  text: z.string().optional(),
  id: z.string().optional(),
});
export type ReplayPart = z.infer<typeof replayPartSchema>;

/** A message of a model is sent back with this, which people do not see (AL170 to AL174). */
const messageReplaySchema = z.object({
  /** Only this one is sent it: signatures and ids mean nothing to others. */
  model: z.string(),
  parts: z.array(replayPartSchema),
});
export type MessageReplay = z.infer<typeof messageReplaySchema>;

/** A message has no more of it as JSON text; longer ones are not sent back. */
const LONGEST_REPLAY = 256 * 1024;

/** Undefined where there is none, or it is no JSON. */
export function toReplayMetadata(given: object | undefined): ReplayMetadata | undefined {
  if (given === undefined) return undefined;
  // Without the keys that are undefined, as it is stored.
  return metadataSchema.safeParse(JSON.parse(JSON.stringify(given))).data;
}

/** Collects what is to be sent back while a message is being written. */
export function createReplayDraft() {
  const parts = new Map<number, ReplayPart>();
  const thoughts = new Map<number, string>();
  let room = LONGEST_REPLAY;

  const note = (at: number, more: Omit<ReplayPart, 'at'>, size: number): void => {
    room -= size;
    if (room >= 0) parts.set(at, { ...parts.get(at), at, ...more });
  };

  return {
    metadata: (at: number, metadata: ReplayMetadata) =>
      note(at, { metadata }, JSON.stringify(metadata).length),
    reasoning(at: number, delta: string) {
      room -= delta.length;
      if (room < 0) return;
      thoughts.set(at, (thoughts.get(at) ?? '') + delta);
      note(at, {}, 0);
    },
    call(at: number, modelId: string) {
      note(at, { id: modelId }, modelId.length);
    },
    /**
     * `shown`: the texts of the parts. Undefined where there is nothing, or too much. A part in which
     * `hide` finds a secret is left out: a provider takes what it signed as it was, or not at all.
     */
    finish(
      model: string,
      shown: readonly (string | undefined)[],
      hide: (text: string) => string,
    ): MessageReplay | undefined {
      if (room < 0) return undefined;
      const whole = [...parts.values()].map((part) => {
        const text = thoughts.get(part.at);
        return text === undefined || text === shown[part.at] ? part : { ...part, text };
      });
      const kept = whole.filter((part) => mapTexts(part, hide) === part);
      return kept.length === 0 ? undefined : { model, parts: kept };
    },
  };
}

/** By message; those of other models are left out. What is stored is JSON of this server. */
export function replaysFor(
  model: string,
  stored: ReadonlyMap<string, unknown>,
): ReadonlyMap<string, MessageReplay> {
  const replays = new Map<string, MessageReplay>();
  for (const [messageId, value] of stored) {
    const parsed = messageReplaySchema.safeParse(value);
    if (parsed.success && parsed.data.model === model) replays.set(messageId, parsed.data);
  }
  return replays;
}
