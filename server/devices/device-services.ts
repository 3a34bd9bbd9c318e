import type { z } from 'zod';
import type {
  blockedOriginSchema,
  JoinBody,
  joinedSchema,
  lookSchema,
  OpenedPairing,
  Outcome,
  pairingDecisionBodySchema,
  WireDevice,
  WirePairing,
} from '#lib/protocol/device';
import type { Caller } from '../auth/room.ts';

/** Who acts, and from where. */
export interface By {
  readonly caller: Caller;
  readonly address: string;
}

/** Who asks without a credential. */
export interface Requester {
  readonly address: string;
  readonly userAgent: string | undefined;
  /** Of a page that is none of ours. */
  readonly foreignOrigin: string | null;
}

type Decision = z.output<typeof pairingDecisionBodySchema>;

/** How devices get in. What is refused is thrown as `HttpError`. */
export interface PairingService {
  look(code: string, address: string): Promise<z.infer<typeof lookSchema>>;
  join(body: JoinBody, requester: Requester): Promise<z.infer<typeof joinedSchema>>;
  /** Held while it waits, until `signal`. */
  outcome(token: string, waitMs: number, address: string, signal: AbortSignal): Promise<Outcome>;
  /** `origin`: under which the request reached the server. */
  open(by: By, origin: string | undefined): Promise<OpenedPairing>;
  list(): WirePairing[];
  decide(pairingId: string, decision: Decision, by: By): Promise<WirePairing>;
  withdraw(pairingId: string, by: By): Promise<WirePairing>;
  readonly blocked: {
    list(): z.infer<typeof blockedOriginSchema>[];
    lift(origin: string, by: By): Promise<void>;
  };
}

export interface DevicesPage {
  readonly devices: readonly WireDevice[];
  /** As `before` of the next page; null where there is none. */
  readonly next: string | null;
}

/** The devices that were let in. What is refused is thrown as `HttpError`. */
export interface DeviceService {
  /**
   * Newest first, fewer than `limit` where their tools are large; `before` is the id of the last one
   * of the page before.
   */
  list(page: { readonly before?: string; readonly limit: number }): DevicesPage;
  get(deviceId: string): WireDevice;
  rename(deviceId: string, name: string, by: By): Promise<WireDevice>;
  revoke(deviceId: string, by: By): Promise<WireDevice>;
  decideTools(
    deviceId: string,
    decision: { readonly allow: readonly string[]; readonly deny: readonly string[] },
    by: By,
  ): Promise<WireDevice>;
}

/** Which pages of other origins may ask, and which are devices (DV rules of origins). */
export interface DeviceOrigins {
  /** Whether a page of this origin may ask to be let in, as far as its origin goes. */
  mayAsk(origin: string): boolean;
  /** Whether a page of this origin was let in. */
  isPaired(origin: string): boolean;
  /** The origin that the device's token counts from alone; null where it has none. */
  originOf(tokenId: string): string | null;
}
