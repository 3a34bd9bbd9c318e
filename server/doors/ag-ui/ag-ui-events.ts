/** The operations of RFC 6902 that this server sends. */
export type PatchOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

interface ToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

export type AgUiMessage =
  | { readonly id: string; readonly role: 'user'; readonly content: string }
  | {
      readonly id: string;
      readonly role: 'assistant';
      readonly content?: string;
      readonly toolCalls?: readonly ToolCall[];
    }
  | ({ readonly id: string; readonly error?: string } & Omit<ToolResult, 'messageId'>);

export interface ToolResult {
  readonly messageId: string;
  readonly toolCallId: string;
  readonly role: 'tool';
  readonly content: string;
}

/** The events of AG-UI 1.0 that this server sends. */
export type AgUiEvent =
  | { readonly type: 'RUN_STARTED'; readonly threadId: string; readonly runId: string }
  | {
      readonly type: 'RUN_FINISHED';
      readonly threadId: string;
      readonly runId: string;
      readonly outcome: { readonly type: 'success' | 'cancelled' };
    }
  | { readonly type: 'RUN_ERROR'; readonly message: string; readonly code: string }
  | {
      readonly type: 'TEXT_MESSAGE_START';
      readonly messageId: string;
      readonly role: 'assistant' | 'user';
    }
  | { readonly type: 'TEXT_MESSAGE_CONTENT'; readonly messageId: string; readonly delta: string }
  | { readonly type: 'TEXT_MESSAGE_END'; readonly messageId: string }
  | {
      readonly type: 'TOOL_CALL_START';
      readonly toolCallId: string;
      readonly toolCallName: string;
      readonly parentMessageId: string;
    }
  | { readonly type: 'TOOL_CALL_ARGS'; readonly toolCallId: string; readonly delta: string }
  | { readonly type: 'TOOL_CALL_END'; readonly toolCallId: string }
  | ({ readonly type: 'TOOL_CALL_RESULT' } & ToolResult)
  | {
      readonly type: 'ACTIVITY_SNAPSHOT';
      readonly messageId: string;
      readonly activityType: typeof CALL_ACTIVITY;
      readonly content: object;
    }
  | {
      readonly type: 'ACTIVITY_DELTA';
      readonly messageId: string;
      readonly activityType: typeof CALL_ACTIVITY;
      readonly patch: readonly PatchOperation[];
    }
  | { readonly type: 'MESSAGES_SNAPSHOT'; readonly messages: readonly AgUiMessage[] }
  | { readonly type: 'CUSTOM'; readonly name: string; readonly value: unknown };

/** The card of a call (contract, section 2). */
export const CALL_ACTIVITY = 'callboard.call';
/** Tools of the front end are not called. */
export const TOOLS_REFUSED = 'callboard.tools_refused';
/** A turn reports something of itself: `code`, `text` in English, `params`. */
export const NOTICE = 'callboard.notice';
/** Earlier messages that a snapshot has no room for: `count`. */
export const LEFT_OUT = 'callboard.messages_left_out';
