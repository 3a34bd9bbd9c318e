import type { Notice, NoticeType } from '#lib/protocol/notice';

/** An attempt ends so. */
export type Outcome =
  | { readonly kind: 'delivered'; readonly status: number | null }
  | {
      readonly kind: 'failed';
      /** The status of HTTP; null: there was no answer. */
      readonly status: number | null;
      /** For the page. It has no secret and no part of an address but the host. */
      readonly reason: string;
      readonly retryAfterMs?: number;
    }
  /** The receiver wants no more, ever. */
  | { readonly kind: 'gone'; readonly status: number | null; readonly reason: string };

/** The reason of an attempt whose time was over. */
export const NO_ANSWER = 'no answer in time';

export interface Attempt {
  /** The same in each attempt. */
  readonly deliveryId: string;
  readonly notice: Notice;
  /** The time of this attempt, in milliseconds since the epoch. */
  readonly at: number;
  /** Aborted when the time of the attempt is over, and when the server stops. */
  readonly signal: AbortSignal;
}

/** One place that notices are sent to. */
export interface Target {
  /** Unique, and kept with each delivery, e.g. `webhook:ops`, `push:<subscription>`. */
  readonly id: string;
  /** People see this of it. Without it, it belongs to one person, and is in no list for others. */
  readonly shown?: { readonly host: string; readonly events: readonly NoticeType[] };
  /** Another one: it leads elsewhere than before, and what was learnt of it counts no more. It shows nothing of the address. */
  readonly fingerprint?: string;
  wants(notice: Notice): boolean;
  /** Asked once for a notice that it wants, which is about to be stored. False: it has had enough for now. */
  admit?(notice: Notice): boolean;
  /** Never rejects. `obsolete`: it was not asked, since the notice comes too late to be of use. */
  send(attempt: Attempt): Promise<Outcome | 'obsolete'>;
}

/** Where targets come from: the configuration, or what people subscribed to. */
export interface TargetSource {
  /**
   * Lists the targets that there are now. One that is `gone` and not listed any more when its attempt ends was
   * taken away by its source; the outbox keeps every other one switched off.
   */
  list(): readonly Target[];
}
