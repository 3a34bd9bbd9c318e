import { randomUUID } from 'node:crypto';
import { type ModelProvider, parseModelRef } from '#lib/protocol/model-ref';
import type { ModelUsage } from '#lib/protocol/model-turn';
import type { RunSummary, RunTrace } from '#lib/protocol/run';
import { given } from '#lib/util/given';
import { CLIENT, INTERNAL, type Spans, spanIds } from './span.ts';
import { formatTraceparent, parseTraceparent, spanOf } from './trace-context.ts';

/** Makes the context of a turn that begins; undefined where it has no trace. `key` is its own alone. */
export function beginTurnTrace(
  { isOn }: Pick<Spans, 'isOn'>,
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

type TurnRun = Pick<RunSummary, 'run_id' | 'model' | 'parent' | 'usage'>;

/** Exports the span of a turn whose end is on disk. `errorCode` is undefined where it ended well. */
export function endTurnTrace(
  spans: Pick<Spans, 'add'>,
  run: TurnRun,
  trace: RunTrace,
  errorCode: string | undefined,
): void {
  const own = parseTraceparent(trace.span);
  if (!own) return;
  const agent = run.parent?.agent ?? 'callboard';
  spans.add({
    ...spanIds(own, parseTraceparent(trace.parent)),
    name: `invoke_agent ${agent}`,
    kind: INTERNAL,
    start: trace.started_at * 1_000,
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
  });
}

type RequestOutcome =
  | { readonly finishReason: string; readonly usage: ModelUsage }
  | { readonly errorCode: string };

/** A request to a model that begins below `parent`. It carries `traceparent`, and its span is exported once it has ended. */
export function beginModelRequest(
  spans: Spans,
  request: {
    readonly runId: string;
    readonly model: string;
    readonly parent: string | undefined;
    /** Milliseconds since the epoch. */
    readonly startedAt: number;
  },
) {
  const { runId, model, parent, startedAt } = request;
  const above = parseTraceparent(parent);
  const own = spans.isOn && above?.isSampled ? spanOf(randomUUID(), above) : undefined;
  return {
    traceparent: own ? formatTraceparent(own) : parent,
    end(outcome: RequestOutcome): void {
      if (!own) return;
      const errorCode = 'errorCode' in outcome ? outcome.errorCode : undefined;
      const answer = 'usage' in outcome ? outcome : undefined;
      spans.add({
        ...spanIds(own, above),
        name: `chat ${parseModelRef(model)?.id ?? model}`,
        kind: CLIENT,
        start: startedAt,
        isError: errorCode !== undefined,
        attributes: {
          'gen_ai.operation.name': 'chat',
          'gen_ai.conversation.id': runId,
          ...modelAttributes(model),
          'gen_ai.usage.input_tokens': answer?.usage.input_tokens ?? undefined,
          'gen_ai.usage.output_tokens': answer?.usage.output_tokens ?? undefined,
          'callboard.finish_reason': answer?.finishReason,
          'error.type': errorCode,
        },
      });
    },
  };
}

/** By the requests of the turn; undefined where no model said how many. */
const usedIn = (
  of: 'input_tokens' | 'output_tokens',
  usage: TurnRun['usage'],
  { before }: RunTrace,
): number | undefined => (usage?.[of] ?? 0) - (before?.[of] ?? 0) || undefined;

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
