import type { ClientOfflineData } from '#lib/protocol/notice';
import type { Clock } from '../clock.ts';

export type AbsentClient = Pick<ClientOfflineData, 'client_id' | 'name' | 'kind'>;

export interface AbsencesDeps {
  readonly clock: Clock;
  /** Whether any instance of it is connected. */
  isHere(clientId: string): boolean;
  /** It did not come back in time; `since` in Unix seconds. */
  away(client: AbsentClient & { readonly since: number }): void;
}

/** As long as calls wait for a client that left: a page that is loaded again is back by then. */
const GRACE_MS = 120_000;
/** Clients that are waited for at a time; beyond it the oldest is let go without a notice. */
const MOST_WAITED_FOR = 1_000;

/** Which clients left and did not come back (OB4). Those that leave as the server stops do not count. */
export class Absences {
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
