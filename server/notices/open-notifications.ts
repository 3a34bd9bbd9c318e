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

/** Calls wait as long for a client that left: a page that is loaded again is back by then. */
const GRACE_MS = 120_000;
/** Clients that are waited for at a time; beyond it the oldest is let go without a notice. */
const MOST_WAITED_FOR = 1_000;

/** A client as the list of those that are connected has it. */
export interface LeftInstance {
  readonly clientId: string;
  readonly name: string;
  readonly kind: ClientOfflineData['kind'];
}

/** Calls `away` for clients that left and did not come back (OB4); those that leave as the server stops do not count. */
function followAbsences(
  { clock, clients }: Pick<NotificationsDeps, 'clock' | 'clients'>,
  away: (client: Omit<ClientOfflineData, 'link'>) => void,
) {
  const waits = new Map<string, () => void>();
  const forget = (id: string) => {
    waits.get(id)?.();
    waits.delete(id);
  };
  clients.onLeft(({ clientId: id, name, kind }) => {
    forget(id);
    if (clients.hasClient(id)) return;
    const since = clock.now() / 1_000;
    const cancel = clock.schedule(GRACE_MS, () => {
      waits.delete(id);
      if (!clients.hasClient(id)) away({ client_id: id, name, kind, since });
    });
    waits.set(id, cancel);
    const [oldest] = waits.keys();
    if (oldest !== undefined && waits.size > MOST_WAITED_FOR) forget(oldest);
  });
  return { stop: () => [...waits.keys()].forEach(forget) };
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

/** Notices that leave the server, with what an earlier one left of them. */
export async function openNotifications(settings: NotifySettings, deps: NotificationsDeps) {
  const { logger, sources = [], isTracing = false } = deps;
  let sending: Sending | undefined;
  const call = async (id: string) => sending?.calls.get(id);
  const origin = () => sending?.origin() ?? '';
  const ofConfig = createConfigTargets(settings, { origin, call, isTracing });
  const outbox = new Outbox({ ...deps, call, sources: [ofConfig, ...sources] });
  const absences = followAbsences(
    deps,
    (client) => void outbox.send(draftOfAbsence(client)).catch(logger.error),
  );
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
