import type { LanguageModelV4, SharedV4ProviderOptions } from '@ai-sdk/provider';
import type { Message, RunError } from '#lib/protocol/run';
import type { Principal } from '../../auth/principal.ts';
import type { ImageWay } from './build-model-history.ts';
import type { Notice } from './notices.ts';

/** A model that can be asked. */
export interface ResolvedModel {
  /** As people and records name it, e.g. `openai:gpt-5`. */
  readonly ref: string;
  readonly languageModel: LanguageModelV4;
  readonly imageWay: ImageWay;
  /** Tools that one request may hold; null for any number. */
  readonly maxTools: number | null;
  readonly providerOptions: SharedV4ProviderOptions;
}

/** One assistant message while it is being written. Watchers see each change. */
export interface MessageWriter {
  append(kind: 'text' | 'reasoning', delta: string): void;
  addCall(callId: string): void;
  /** For people only; a model never reads it. */
  addNotice(notice: Notice): void;
  /** Resolves once the message is on disk and told as done. */
  end(): Promise<void>;
}

/** Where a turn is written down. Each step of the model is a message of its own. */
export interface Transcript {
  messages(): readonly Message[];
  beginStep(step: number): Promise<void>;
  beginMessage(): MessageWriter;
}

export interface TurnRequest {
  readonly principal: Principal;
  readonly runId: string;
  readonly model: ResolvedModel;
  /** Names of the tools that may be called; null for all. */
  readonly tools: readonly string[] | null;
  readonly transcript: Transcript;
  /** Steps that a turn had done before the server was restarted; they count (RU10). */
  readonly stepsDone?: number;
  /** Its reason is `CANCELLED` or `SHUTTING_DOWN`. */
  readonly signal: AbortSignal;
}

/** The person stopped the turn: its calls are cancelled. */
export const CANCELLED = 'cancelled';
/** The server stops: turn and calls are left as they are on disk, and the next start takes them up. */
export const SHUTTING_DOWN = 'shutting_down';

export type TurnEnd =
  | { readonly status: 'idle' }
  | { readonly status: 'cancelled' }
  /** Left as it is on disk: the server stops, and the next start goes on. */
  | { readonly status: 'suspended' }
  | { readonly status: 'failed'; readonly error: RunError };

/** The built-in agent: asks a model, runs what it calls, until it answers. It knows no sockets. */
export interface Agent {
  readonly maxSteps: number;
  /** Ends with a value whatever the model does; rejects only when nothing can be written down. */
  runTurn(request: TurnRequest): Promise<TurnEnd>;
}
