import type { ModelTurn, ModelUsage, SentPart, StoredModelTurn } from '#lib/protocol/model-turn';
import type { Clock } from '../base/clock.ts';
import type { Change, Store } from '../store/room.ts';

type PutModelTurn = Extract<Change, { type: 'put_model_turn' }>;

/** A request to the model, as it is written down before it is made. */
export interface ModelRequest
  extends Pick<
    StoredModelTurn,
    'step' | 'model' | 'tools_offered' | 'tools_sha256' | 'prompt_sha256' | 'rendering'
  > {
  /** The run goes to this step with it. False for another attempt, and for the last answer. */
  readonly beginsStep: boolean;
  /** They belong to all calls in the prompt; those that were sent before in this form are not written again. */
  readonly results: readonly SentPart[];
}

/** A request that is being answered. Without an end it was interrupted. */
export interface RequestLog {
  /** The first piece of the answer is here. */
  answered(): void;
  /** The outcome goes to disk with what the run writes next. */
  end(outcome: RequestOutcome): void;
  /** Writes the end now, where nothing else is about to be written. */
  write(): Promise<void>;
}

export type RequestOutcome =
  | { readonly finishReason: string; readonly usage: ModelUsage }
  /** The code of a notice, or `cancelled`. */
  | { readonly errorCode: string };

/** Read in one piece, to find what was sent before. */
const PAGE = 200;

const UNKNOWN_USAGE = {
  input_tokens: null,
  output_tokens: null,
  reasoning_tokens: null,
  cached_tokens: null,
} as const;

interface LogDeps {
  readonly store: Pick<Store, 'listModelTurns'>;
  readonly clock: Clock;
}

/** The requests of one run to its models, which are made one after the other. */
export class ModelTurnLog {
  readonly #deps: LogDeps;
  readonly #runId: string;
  #last: StoredModelTurn | undefined;
  /** In which form the result of a call was sent the last time. */
  readonly #sentAs = new Map<string, string>();
  #isRead: boolean;
  #firstOwn = Number.POSITIVE_INFINITY;
  #open: StoredModelTurn | undefined;
  #ended: StoredModelTurn | undefined;

  /** `isNew`: nothing of the run is stored yet, so that nothing is looked for. */
  constructor(deps: LogDeps, { runId, isNew }: { runId: string; isNew: boolean }) {
    this.#deps = deps;
    this.#runId = runId;
    this.#isRead = isNew;
  }

  /** The record of a request that is about to be made; `of` says what it belongs to. */
  async begin(
    request: ModelRequest,
    of: Pick<StoredModelTurn, 'message_id' | 'turn'>,
  ): Promise<StoredModelTurn> {
    if (!this.#isRead) await this.#read();
    const number = (this.#last?.number ?? 0) + 1;
    this.#firstOwn = Math.min(this.#firstOwn, number);
    const { beginsStep: _, results, ...described } = request;
    this.#open = {
      run_id: this.#runId,
      number,
      ...of,
      ...described,
      attempt: this.#attemptOf(request, of.turn),
      started_at: this.#nowSeconds(),
      first_token_at: null,
      ended_at: null,
      finish_reason: null,
      error_code: null,
      usage: UNKNOWN_USAGE,
      sent: results.filter((part) => this.#sentAs.get(part.tool_call_id) !== formOf(part)),
    };
    this.#take(this.#open);
    return this.#open;
  }

  answered(): void {
    if (this.#open) this.#open = { ...this.#open, first_token_at: this.#nowSeconds() };
  }

  end(outcome: RequestOutcome): void {
    if (!this.#open) return;
    const came =
      'errorCode' in outcome
        ? { error_code: outcome.errorCode }
        : { finish_reason: outcome.finishReason, usage: outcome.usage };
    this.#ended = { ...this.#open, ended_at: this.#nowSeconds(), ...came };
    this.#open = undefined;
  }

  /** The end of a request that is not written yet: to go with the next write. */
  takeEnded(): PutModelTurn[] {
    const turn = this.#ended;
    this.#ended = undefined;
    return turn ? [{ type: 'put_model_turn', turn }] : [];
  }

  /** False for a request whose end cannot come any more, as an earlier process made it. */
  mayEnd(number: number): boolean {
    return number >= this.#firstOwn;
  }

  async #read(): Promise<void> {
    for (let after: number | null = 0; after !== null; ) {
      const query = { runId: this.#runId, after, limit: PAGE };
      const page = await this.#deps.store.listModelTurns(query);
      for (const turn of page.turns) this.#take(turn);
      after = page.nextAfter;
    }
    this.#isRead = true;
  }

  #take(turn: StoredModelTurn): void {
    this.#last = turn;
    for (const part of turn.sent) this.#sentAs.set(part.tool_call_id, formOf(part));
  }

  /** A step that is asked for again after a restart is another attempt, too. */
  #attemptOf({ step }: ModelRequest, turn: number): number {
    const last = this.#last;
    return last?.turn === turn && last.step === step ? last.attempt + 1 : 1;
  }

  #nowSeconds(): number {
    return this.#deps.clock.now() / 1000;
  }
}

const formOf = ({ sha256, images }: StoredModelTurn['sent'][number]): string =>
  [sha256, ...images.map((image) => image.sha256)].join(' ');

/** `run`: whether the end of one without an end can still come. */
export function stateOf(
  turn: StoredModelTurn,
  run: Pick<ModelTurnLog, 'mayEnd'>,
): ModelTurn['state'] {
  if (turn.ended_at !== null) return turn.finish_reason === null ? 'failed' : 'done';
  return run.mayEnd(turn.number) ? 'running' : 'interrupted';
}
