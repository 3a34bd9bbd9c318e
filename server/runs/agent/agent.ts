import type { LanguageModelV4, SharedV4ProviderOptions } from '@ai-sdk/provider';
import type { CallParent } from '#lib/call/new-call';
import type { MessageAuthor, RunError, RunSettings } from '#lib/protocol/run';
import type { Caller, Principal } from '../../auth/room.ts';
import type { LiveRun } from '../live-run.ts';
import type { ImageWay } from './build-model-history.ts';
import type { Lesson } from './lessons.ts';
import type { SchemaTarget } from './schema-targets.ts';
import type { Patience } from './silence-watch.ts';
import type { Spending } from './spending.ts';

/** A model that can be asked. */
export interface ResolvedModel {
  /** People and records name it so, e.g. `openai:gpt-5`. */
  readonly ref: string;
  /** Asked in the way that its provider takes. */
  readonly taught: (lesson: Lesson) => LanguageModelV4;
  readonly imageWay: ImageWay;
  /** Its server speaks OpenAI's chat API, and nobody says how strict it is. */
  readonly isCompatible: boolean;
  /** Tokens that a request and its answer may have together; null where nothing says. */
  readonly contextTokens: number | null;
  /** Tools that one request may hold; null for any number. */
  readonly maxTools: number | null;
  readonly schemaTarget: SchemaTarget;
  readonly providerOptions: SharedV4ProviderOptions;
  readonly patience: Patience;
  /** How it is asked, where the run does not say. */
  readonly settings: RunSettings;
  /** Markdown that describes the tools to a model without tool calling of its own; null where it has that. */
  readonly toolPrompt: string | null;
}

/** A sub-agent's turn has these beside a person's. Its calls stand below the call that it works for. */
export interface Delegated extends CallParent {
  /** Added to the instructions. */
  readonly prompt: string;
}

export interface TurnRequest {
  readonly principal: Principal;
  /** The person who wrote a message in the run of another. */
  readonly authorOf?: (author: MessageAuthor) => Caller;
  readonly runId: string;
  readonly model: ResolvedModel;
  /** Names of the tools that may be called; null for all. */
  readonly tools: readonly string[] | null;
  /** Names of those that are offered before others. */
  readonly pinned: readonly string[];
  /** The turn is written down there. */
  readonly transcript: LiveRun;
  /** How the model is asked in this run, before what the configuration says. */
  readonly settings?: RunSettings | undefined;
  /** A sub-agent works for a call of another turn. */
  readonly delegated?: Delegated | undefined;
  /** Counts what the turn takes, and holds it to the budgets; without it the budget of the agent holds. */
  readonly spending?: Spending | undefined;
  /** Its calls and requests stand below this W3C `traceparent`. */
  readonly traceparent?: string | undefined;
  /** Steps that a turn had done before the server was restarted; they count (RU10). */
  readonly stepsDone?: number;
  /** Its reason is a `StopReason`. */
  readonly signal: AbortSignal;
}

/** Whose tools are asked for: of a run, whether a turn of it runs or not. */
export type ToolsRequest = Pick<
  TurnRequest,
  'principal' | 'runId' | 'model' | 'tools' | 'pinned' | 'transcript'
>;

/** The turn was stopped: its calls are cancelled. */
export const CANCELLED = 'cancelled';
/** The server stops: turn and calls are left as they are on disk, and the next start takes them up. */
export const SHUTTING_DOWN = 'shutting_down';

/** The token of the run's owner was revoked: its calls are cancelled. */
export const OWNER_REVOKED = 'owner_revoked';

/** The same as `CANCELLED`, with the name of who stopped it. */
export interface Stopped {
  readonly stoppedBy: string;
}

/** The call that a sub-agent works for has ended: the sub-agent's calls are cancelled, with the cause. */
export class WorkNotWanted {
  readonly message: string;
  readonly stoppedBy: string | undefined;

  constructor(agent: string, callId: string, cause: string, stoppedBy?: string) {
    this.stoppedBy = stoppedBy;
    const ending = cause.replace(/\.$/, '');
    this.message = `The sub-agent ${agent} was stopped, because the call ${callId} that it worked for ended: ${ending}.`;
  }
}

export type StopReason =
  | typeof CANCELLED
  | typeof OWNER_REVOKED
  | typeof SHUTTING_DOWN
  | Stopped
  | WorkNotWanted;

export type TurnEnd =
  | { readonly status: 'idle' }
  | { readonly status: 'cancelled' }
  /** Left as it is on disk: the server stops, and the next start goes on. */
  | { readonly status: 'suspended' }
  | { readonly status: 'failed'; readonly error: RunError };
