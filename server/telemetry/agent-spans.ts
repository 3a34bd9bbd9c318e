import { randomUUID } from 'node:crypto';
import { type ModelProvider, parseModelRef } from '#lib/protocol/model-ref';
import type { ModelUsage } from '#lib/protocol/model-turn';
import type { RunSummary, RunTrace } from '#lib/protocol/run';
import { given } from '#lib/util/given';
import { CLIENT, INTERNAL, type Span, spanIds } from './span.ts';
import { formatTraceparent, parseTraceparent, spanOf } from './trace-context.ts';

/** A turn whose end is on disk. */
export interface EndedTurn {
  readonly run: Pick<RunSummary, 'run_id' | 'model' | 'parent' | 'usage'>;
  readonly trace: RunTrace;
  /** Undefined where it ended well. */
  readonly errorCode: string | undefined;
}

/** A request to a model whose answer has ended. */
export interface EndedRequest {
  readonly runId: string;
  /** The context of the request; undefined where it has no span. */
  readonly span: string | undefined;
  /** The context of the turn. */
  readonly parent: string | undefined;
  readonly model: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly outcome:
    | { readonly finishReason: string; readonly usage: ModelUsage }
    | { readonly errorCode: string };
}

/** Where turns of the built-in agent, and their requests to models, become spans. */
export interface AgentSpans {
  /** Off: what comes in is passed on as it came, and nothing is exported. */
  readonly isOn: boolean;
  turnEnded(turn: EndedTurn): void;
  requestEnded(request: EndedRequest): void;
}

/** Makes the context of a turn that begins; undefined where it has no trace. `key` is its own alone. */
export function beginTurnTrace(
  { isOn }: Pick<AgentSpans, 'isOn'>,
  key: string,
  parent: string | undefined,
  nowSeconds: number,
): RunTrace | undefined {
  const above = parseTraceparent(parent);
  const span =
    isOn && above?.isSampled !== false ? formatTraceparent(spanOf(key, above)) : undefined;
  if (span === undefined && parent === undefined) return undefined;
  return { started_at: nowSeconds, ...given({ span, parent }) };
}

/** Gives what is sent to whom the turn asks, and what its calls stand below. */
export const traceparentOfTurn = (trace: RunTrace | undefined): string | undefined =>
  trace?.span ?? trace?.parent;

/** The span of a request that begins; undefined where it is not exported. */
export function beginRequestSpan(
  { isOn }: Pick<AgentSpans, 'isOn'>,
  parent: string | undefined,
): string | undefined {
  const above = parseTraceparent(parent);
  return isOn && above?.isSampled ? formatTraceparent(spanOf(randomUUID(), above)) : undefined;
}

export function turnSpan({ run, trace, errorCode }: EndedTurn, now: number): Span | undefined {
  const own = parseTraceparent(trace.span);
  if (!own) return undefined;
  const agent = run.parent?.agent ?? 'callboard';
  return {
    ...spanIds(own, parseTraceparent(trace.parent)),
    name: `invoke_agent ${agent}`,
    kind: INTERNAL,
    start: trace.started_at * 1_000,
    end: now,
    isError: errorCode !== undefined,
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': agent,
      'gen_ai.conversation.id': run.run_id,
      ...modelAttributes(run.model),
      'gen_ai.usage.input_tokens': usedIn('input_tokens', run.usage, trace),
      'gen_ai.usage.output_tokens': usedIn('output_tokens', run.usage, trace),
      'error.type': errorCode,
    },
  };
}

export function requestSpan(request: EndedRequest, now: number): Span | undefined {
  const { runId, model, startedAt, outcome } = request;
  const own = parseTraceparent(request.span);
  if (!own) return undefined;
  const errorCode = 'errorCode' in outcome ? outcome.errorCode : undefined;
  const { finishReason, usage } = 'usage' in outcome ? outcome : NO_ANSWER;
  return {
    ...spanIds(own, parseTraceparent(request.parent)),
    name: `chat ${parseModelRef(model)?.id ?? model}`,
    kind: CLIENT,
    start: startedAt,
    end: now,
    isError: errorCode !== undefined,
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.conversation.id': runId,
      ...modelAttributes(model),
      'gen_ai.usage.input_tokens': usage?.input_tokens ?? undefined,
      'gen_ai.usage.output_tokens': usage?.output_tokens ?? undefined,
      'callboard.finish_reason': finishReason,
      'error.type': errorCode,
    },
  };
}

/** By the requests of the turn; undefined where no model said how many. */
const usedIn = (
  of: 'input_tokens' | 'output_tokens',
  usage: EndedTurn['run']['usage'],
  { before }: RunTrace,
): number | undefined => (usage?.[of] ?? 0) - (before?.[of] ?? 0) || undefined;

const NO_ANSWER = { finishReason: undefined, usage: undefined };

/** The conventions name these otherwise; others have our name. */
const PROVIDERS: Partial<Record<ModelProvider, string>> = {
  'openai-chat': 'openai',
  google: 'gcp.gemini',
};

function modelAttributes(ref: string | null) {
  const model = ref === null ? undefined : parseModelRef(ref);
  return {
    'gen_ai.provider.name': model && (PROVIDERS[model.provider] ?? model.provider),
    'gen_ai.request.model': model?.id,
  };
}
