import type { StoredModelTurn } from '#lib/protocol/model-turn';
import type { Clock } from '../clock.ts';
import type { Change, Store } from '../store/store.ts';
import type { ModelRequest, RequestOutcome } from './agent/agent.ts';

/** The requests of one run to its models, which are made one after the other. */
export interface ModelTurnLog {
  /** The record of a request that is about to be made; `of` says what it belongs to. */
  begin(
    request: ModelRequest,
    of: Pick<StoredModelTurn, 'message_id' | 'turn'>,
  ): Promise<StoredModelTurn>;
  answered(): void;
  end(outcome: RequestOutcome): void;
  /** The end of a request that is not written yet: to go with the next write. */
  takeEnded(): Change[];
  /** False for a request whose end cannot come any more, as an earlier process made it. */
  mayEnd(number: number): boolean;
}

/** Read in one piece, to find what was sent before. */
const PAGE = 200;

const UNKNOWN_USAGE = {
  ...{ input_tokens: null, output_tokens: null, reasoning_tokens: null, cached_tokens: null },
} as const;

/** `isNew`: nothing of the run is stored yet, so that nothing is looked for. */
export function createModelTurnLog(
  deps: { readonly store: Pick<Store, 'listModelTurns'>; readonly clock: Clock },
  { runId, isNew }: { readonly runId: string; readonly isNew: boolean },
): ModelTurnLog {
  let last: StoredModelTurn | undefined;
  /** In which form the result of a call was sent the last time. */
  const sentAs = new Map<string, string>();
  let known = isNew;
  let firstOwn = Number.POSITIVE_INFINITY;
  let open: StoredModelTurn | undefined;
  let ended: StoredModelTurn | undefined;
  const nowSeconds = () => deps.clock.now() / 1000;

  const take = (turn: StoredModelTurn) => {
    last = turn;
    for (const part of turn.sent) sentAs.set(part.tool_call_id, formOf(part));
  };

  const read = async () => {
    for (let after: number | null = 0; after !== null; ) {
      const page = await deps.store.listModelTurns({ runId, after, limit: PAGE });
      for (const turn of page.turns) take(turn);
      after = page.nextAfter;
    }
    known = true;
  };

  /** A step that is asked for again after a restart is another attempt, too. */
  const attemptOf = ({ step }: ModelRequest, turn: number): number =>
    last?.turn === turn && last.step === step ? last.attempt + 1 : 1;

  return {
    async begin(request, { message_id, turn }) {
      if (!known) await read();
      const number = (last?.number ?? 0) + 1;
      firstOwn = Math.min(firstOwn, number);
      open = {
        ...{ run_id: runId, number, message_id, turn, step: request.step },
        attempt: attemptOf(request, turn),
        model: request.model,
        started_at: nowSeconds(),
        ...{ first_token_at: null, ended_at: null, finish_reason: null, error_code: null },
        usage: UNKNOWN_USAGE,
        tools_offered: request.toolsOffered,
        tools_sha256: request.toolsSha256,
        prompt_sha256: request.promptSha256,
        rendering: request.rendering,
        sent: request.results.filter((part) => sentAs.get(part.tool_call_id) !== formOf(part)),
      };
      take(open);
      return open;
    },
    answered() {
      if (open) open = { ...open, first_token_at: nowSeconds() };
    },
    end(outcome) {
      if (!open) return;
      const came =
        'errorCode' in outcome
          ? { error_code: outcome.errorCode }
          : { finish_reason: outcome.finishReason, usage: outcome.usage };
      ended = { ...open, ended_at: nowSeconds(), ...came };
      open = undefined;
    },
    takeEnded() {
      if (!ended) return [];
      const turn = ended;
      ended = undefined;
      return [{ type: 'put_model_turn', turn }];
    },
    mayEnd: (number) => number >= firstOwn,
  };
}

const formOf = ({ sha256, images }: StoredModelTurn['sent'][number]): string =>
  [sha256, ...images.map((image) => image.sha256)].join(' ');
