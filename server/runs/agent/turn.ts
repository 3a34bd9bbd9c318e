import type { CallRecord } from '#lib/call/call-record';
import type { Message } from '#lib/protocol/run';
import type { CallService } from '../../calls/call-service.ts';
import type { Clock } from '../../clock.ts';
import type { Logger } from '../../logger.ts';
import type { ToolRegistry } from '../../tools/tool-registry.ts';
import type { TurnRequest } from './agent.ts';
import type { ModelImage } from './build-model-history.ts';
import type { ImageSource } from './load-images.ts';
import type { TurnBudget } from './turn-budget.ts';

export interface TurnDeps {
  readonly calls: CallService;
  readonly registry: Pick<ToolRegistry, 'list'>;
  readonly clock: Clock;
  readonly images: ImageSource;
  readonly maxSteps: number;
  readonly budget: TurnBudget;
  /** Tools that are asked again and again on purpose, e.g. how far a job is. */
  readonly isPolling: (toolName: string) => boolean;
  /** How often a request that failed with 429 or 5xx is made again. */
  readonly maxRetries: number;
  /** A model that says nothing for so long is given up. */
  readonly silentMs: number;
  /** What must not happen and stops no turn; for the log. */
  readonly logger: Logger;
}

/** What the steps of one turn share. */
export interface Turn extends TurnRequest {
  readonly deps: TurnDeps;
  /** Final records, read once. */
  readonly finals: Map<string, CallRecord>;
  readonly scaled: Map<string, ModelImage>;
  /** Tokens of the requests that this server made for the turn. */
  readonly used: { tokens: number };
  /** Codes of what was said once and is not said again. */
  readonly noted: Set<string>;
}

/**
 * The messages that the model reads in this step: those before the one that it is writing. What a
 * person sends meanwhile is read in the next step (RU33).
 */
export function messagesRead({ transcript }: Pick<Turn, 'transcript'>): readonly Message[] {
  const messages = transcript.messages();
  const at = messages.findLastIndex(({ status }) => status === 'streaming');
  return at < 0 ? messages : messages.slice(0, at);
}

/** The person's message that this step answers. */
export const askedIn = (turn: Pick<Turn, 'transcript'>): Message | undefined =>
  messagesRead(turn).findLast(({ role }) => role === 'user');

/** The client whose person sent that message. It is on disk with it. */
export const askedFrom = (turn: Turn): string | undefined => askedIn(turn)?.client_id;
