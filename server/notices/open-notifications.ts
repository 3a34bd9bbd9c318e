import type { Call } from '#lib/call/call';
import type { ClientOfflineData } from '#lib/protocol/notice';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { Store } from '../store/room.ts';
import { createConfigTargets } from './config-targets.ts';
import { draftOfAbsence } from './notice-drafts.ts';
import type { NotifySettings } from './notify-config.ts';
import { Outbox, type OutboxDeps } from './outbox.ts';
import type { TargetSource } from './target.ts';

type AbsentClient = Pick<ClientOfflineData, 'client_id' | 'name' | 'kind'>;

interface AbsencesDeps {
  readonly clock: Clock;
  /** Says whether any instance of it is connected. */
  isHere(clientId: string): boolean;
  /** It did not come back in time; `since` in Unix seconds. */
  away(client: AbsentClient & { readonly since: number }): void;
}

/** Calls wait as long for a client that left: a page that is loaded again is back by then. */
const GRACE_MS = 120_000;
/** Clients that are waited for at a time; beyond it the oldest is let go without a notice. */
const MOST_WAITED_FOR = 1_000;

/** Which clients left and did not come back (OB4). Those that leave as the server stops do not count. */
class Absences {
  readonly #deps: AbsencesDeps;
  readonly #waits = new Map<string, () => void>();

  constructor(deps: AbsencesDeps) {
    this.#deps = deps;
  }

  /** An instance of the client has left. */
  left(client: AbsentClient): void {
    const { clock, isHere, away } = this.#deps;
    const { client_id: id } = client;
    this.#forget(id);
    if (isHere(id)) return;
    const since = clock.now() / 1_000;
    const cancel = clock.schedule(GRACE_MS, () => {
      this.#waits.delete(id);
      if (!isHere(id)) away({ ...client, since });
    });
    this.#waits.set(id, cancel);
    const [oldest] = this.#waits.keys();
    if (oldest !== undefined && this.#waits.size > MOST_WAITED_FOR) this.#forget(oldest);
  }

  stop(): void {
    for (const id of [...this.#waits.keys()]) this.#forget(id);
  }

  #forget(id: string): void {
    this.#waits.get(id)?.();
    this.#waits.delete(id);
  }
}

export interface NotificationsDeps extends Pick<OutboxDeps, 'newId' | 'counted' | 'random'> {
  readonly store: Store;
  readonly clock: Clock;
  readonly clients: {
    hasClient(clientId: string): boolean;
    /** Calls back when an instance of a client has left. */
    onLeft(listener: (instance: LeftInstance) => void): void;
  };
  /** Beside the targets of the configuration. */
  readonly sources?: readonly TargetSource[];
  readonly logger: Logger;
  /** Spans are exported. */
  readonly isTracing?: boolean;
}

interface Sending {
  readonly calls: { get(id: string): Promise<Call | undefined> };
  /** The origin by which people come to this workbench. */
  readonly origin: () => string;
}

/** A client as the list of those that are connected has it. */
export interface LeftInstance {
  readonly clientId: string;
  readonly name: string;
  readonly kind: AbsentClient['kind'];
}

/** Notices that leave the server, with what an earlier one left of them. */
export async function openNotifications(settings: NotifySettings, deps: NotificationsDeps) {
  const { clock, clients, logger, sources = [], isTracing = false } = deps;
  let sending: Sending | undefined;
  const call = async (id: string) => sending?.calls.get(id);
  const origin = () => sending?.origin() ?? '';
  const ofConfig = createConfigTargets(settings, { origin, call, isTracing });
  const outbox = new Outbox({ ...deps, call, sources: [ofConfig, ...sources] });
  const absences = new Absences({
    clock,
    isHere: clients.hasClient,
    away: (client) => void outbox.send(draftOfAbsence(client)).catch(logger.error),
  });
  clients.onLeft(({ clientId, name, kind }) => absences.left({ client_id: clientId, name, kind }));
  await outbox.load();
  return {
    outbox,
    /** Sends from now on. */
    start(now: Sending): void {
      sending = now;
      outbox.start();
    },
    stop(): void {
      absences.stop();
      outbox.stop();
    },
  };
}
