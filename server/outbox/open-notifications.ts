import type { CallRecord } from '#lib/call/call-record';
import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import type { Store } from '../store/store.ts';
import { Absences, type AbsentClient } from './absences.ts';
import { createConfigTargets } from './config-targets.ts';
import { draftOfAbsence } from './notice-drafts.ts';
import type { NotifySettings } from './notify-config.ts';
import { Outbox, type OutboxDeps } from './outbox.ts';
import type { TargetSource } from './target.ts';

export interface NotificationsDeps extends Pick<OutboxDeps, 'newId' | 'counted' | 'random'> {
  readonly store: Store;
  readonly clock: Clock;
  /** Beside the targets of the configuration. */
  readonly sources?: readonly TargetSource[];
  readonly logger: Logger;
  /** Whether spans are exported. */
  readonly isTracing?: boolean;
}

interface LateParts {
  readonly calls: { get(id: string): Promise<CallRecord | undefined> };
  readonly clients: { hasClient(clientId: string): boolean };
}

/** A client as the list of those that are connected has it. */
interface LeftInstance {
  readonly clientId: string;
  readonly name: string;
  readonly kind: AbsentClient['kind'];
}

/** Notices that leave the server, with what an earlier one left of them. */
export async function openNotifications(settings: NotifySettings, deps: NotificationsDeps) {
  const { clock, logger, sources = [], isTracing = false } = deps;
  let parts: LateParts | undefined;
  let origin = () => '';
  const call = async (id: string) => parts?.calls.get(id);
  const ofConfig = createConfigTargets(settings, { origin: () => origin(), call, isTracing });
  const outbox = new Outbox({ ...deps, call, sources: [ofConfig, ...sources] });
  const absences = new Absences({
    clock,
    isHere: (clientId) => parts?.clients.hasClient(clientId) ?? false,
    away: (client) => void outbox.send(draftOfAbsence(client)).catch(logger.error),
  });
  await outbox.load();
  return {
    outbox,
    /** Before anything is sent. */
    connect(late: LateParts): void {
      parts = late;
    },
    left: ({ clientId, name, kind }: LeftInstance) =>
      absences.left({ client_id: clientId, name, kind }),
    /** `reached` gives the origin by which people come to this workbench. */
    start(reached: () => string): void {
      origin = reached;
      outbox.start();
    },
    stop(): void {
      absences.stop();
      outbox.stop();
    },
  };
}
