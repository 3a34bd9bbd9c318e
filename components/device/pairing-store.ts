import { createStore, type StoreApi } from 'zustand/vanilla';
import type { Outcome, Workbench } from '#lib/protocol/device';
import { readPairingCode } from '#lib/protocol/pairing-code';
import type { ToolSpec } from '#lib/protocol/tool-spec';
import type { AskingDevice, DeviceMemory, PairedDevice } from './device-memory.ts';
import type { Looked, PairingApi, PairingProblem } from './pairing-api.ts';

/** How far this device has come. Rules: DP in SPEC.md. */
export type PairingStep =
  | { readonly step: 'code'; readonly typed: string; readonly problem?: PairingProblem }
  | { readonly step: 'looking'; readonly typed: string }
  | ({ readonly step: 'offer'; readonly code: string; readonly problem?: PairingProblem } & Looked)
  | ({ readonly step: 'joining'; readonly code: string } & Looked)
  /** `isUnsure`: the server did not answer last time, so a person may have decided already. */
  | { readonly step: 'waiting'; readonly kept: AskingDevice; readonly isUnsure: boolean }
  | { readonly step: 'paired'; readonly kept: PairedDevice }
  | { readonly step: 'ended'; readonly outcome: Ended; readonly workbench: Workbench };

type Ended = Exclude<Outcome['state'], 'waiting' | 'approved'>;

export interface PairingState {
  readonly at: PairingStep;
  type(typed: string): void;
  look(): Promise<void>;
  join(offer: JoinOffer): Promise<void>;
  /** From the beginning, with another code. */
  again(): void;
  /** Asks for the outcome until it is known; for a page that was opened anew meanwhile. */
  follow(): Promise<void>;
}

interface JoinOffer {
  readonly name: string;
  readonly tools: readonly ToolSpec[];
}

export type PairingStore = StoreApi<PairingState>;

export interface PairingDeps {
  readonly api: PairingApi;
  readonly memory: DeviceMemory;
  newToken(): string;
  hashOf(token: string): string;
  /** Resolves after that many milliseconds, or when the network is back. */
  pause(ms: number): Promise<void>;
}

/** How long the server may hold an answer, and the pauses after those that did not arrive. */
const WAIT_MS = 20_000;
const LONGEST_PAUSE_MS = 8_000;

const BAD_CODE: PairingProblem = { code: 'bad_code', message: '' };

/** `typed` is the code of the link, if the page was opened by one. */
export function createPairingStore(deps: PairingDeps, typed: string): PairingStore {
  const asking = typed === '' ? deps.memory.asking() : undefined;
  const store: PairingStore = createStore((set, get) => {
    const flow = new PairingFlow(
      deps,
      () => get().at,
      (at) => set({ at }),
    );
    return {
      at: asking ? { step: 'waiting', kept: asking, isUnsure: false } : { step: 'code', typed },
      type: (next) => set({ at: { step: 'code', typed: next } }),
      look: () => flow.look(),
      join: (offer) => flow.join(offer),
      again: () => set({ at: { step: 'code', typed: '' } }),
      follow: () => flow.follow(),
    };
  });
  return store;
}

type Offer = Extract<PairingStep, { step: 'offer' }>;

class PairingFlow {
  readonly #deps: PairingDeps;
  readonly #at: () => PairingStep;
  readonly #go: (at: PairingStep) => void;

  constructor(deps: PairingDeps, at: () => PairingStep, go: (at: PairingStep) => void) {
    this.#deps = deps;
    this.#at = at;
    this.#go = go;
  }

  async look(): Promise<void> {
    const at = this.#at();
    if (at.step !== 'code') return;
    const code = readPairingCode(at.typed);
    if (code === null) return this.#go({ ...at, problem: BAD_CODE });
    this.#go({ step: 'looking', typed: at.typed });
    const answer = await this.#deps.api.look(code);
    if (answer.ok) this.#go({ step: 'offer', code, ...answer.value });
    else this.#go({ step: 'code', typed: at.typed, problem: answer.problem });
  }

  async join({ name, tools }: JoinOffer): Promise<void> {
    const at = this.#at();
    if (at.step !== 'offer') return;
    const { memory, api } = this.#deps;
    const { code, workbench, expires_at } = at;
    this.#go({ step: 'joining', code, workbench, expires_at });
    const token = this.#deps.newToken();
    const kept: AskingDevice = { token, name, workbench, expires_at };
    // Before it is sent: a page that is closed meanwhile finds the outcome by it.
    memory.keepAsking(kept);
    const token_hash = this.#deps.hashOf(token);
    const answer = await api.join({ code, token_hash, name, kind: 'phone', tools: [...tools] });
    if (answer.ok) {
      const asked = { ...kept, expires_at: answer.value.expires_at };
      memory.keepAsking(asked);
      this.#go({ step: 'waiting', kept: asked, isUnsure: false });
      return this.follow();
    }
    const offer: Offer = { step: 'offer', code, workbench, expires_at, problem: answer.problem };
    if (answer.problem.code === 'unreachable') {
      // The request may have arrived, and only its answer was lost.
      this.#go({ step: 'waiting', kept, isUnsure: true });
      return this.follow(offer);
    }
    memory.forgetAsking();
    this.#go(offer);
  }

  /** Until the outcome is known. `otherwise`: where to go when the request never arrived. */
  async follow(otherwise?: Offer): Promise<void> {
    for (let failed = 0; ; ) {
      const at = this.#at();
      if (at.step !== 'waiting') return;
      const waitMs = at.isUnsure ? 0 : WAIT_MS;
      const answer = await this.#deps.api.outcome(at.kept.token, { waitMs });
      // Started anew meanwhile: the outcome is of a request that nothing here follows any more.
      if (this.#at() !== at) return;
      if (!answer.ok) {
        if (!at.isUnsure) this.#go({ ...at, isUnsure: true });
        await this.#deps.pause(Math.min(1_000 * 2 ** failed, LONGEST_PAUSE_MS));
        failed += 1;
      } else if (answer.value.state !== 'waiting') {
        return this.#end(at.kept, answer.value, otherwise);
      } else {
        failed = 0;
        if (at.isUnsure) this.#go({ ...at, isUnsure: false });
      }
    }
  }

  #end(kept: AskingDevice, { state, device, workbench }: Outcome, otherwise?: Offer): void {
    const { memory } = this.#deps;
    memory.forgetAsking();
    if (state === 'approved') {
      const { token } = kept;
      const name = device?.name ?? kept.name;
      const paired: PairedDevice = { token, name, workbench, device_id: device?.device_id };
      memory.keepDevice(paired);
      return this.#go({ step: 'paired', kept: paired });
    }
    if (state === 'unknown' && otherwise) return this.#go(otherwise);
    if (state !== 'waiting') this.#go({ step: 'ended', outcome: state, workbench });
  }
}
