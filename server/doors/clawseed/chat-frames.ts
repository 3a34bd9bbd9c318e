import type { ServerMessageOf } from '#lib/protocol/server-messages';

/** The server sends these on `/ws/chat`, in ClawSeed's words; fields that it lacks are additions. */
export type ServerFrame =
  | {
      readonly type: 'session_start';
      readonly v: number;
      readonly session_id: string;
      readonly resumed: boolean;
      readonly message_count: number;
      readonly name?: string;
      /** The run that the session is. */
      readonly run_id: string;
    }
  | { readonly type: 'connected'; readonly v: number; readonly message: string }
  | {
      readonly type: 'tools_registered';
      /** Offered by this registration. */
      readonly count: number;
      /** All that this connection offers now. */
      readonly registered: number;
      readonly rejected: ServerMessageOf<'tools_registered'>['rejected'];
    }
  | { readonly type: 'registered_tools'; readonly tools: readonly ToolSpecFrame[] }
  | ServerMessageOf<'tool_call_request'>
  | ServerMessageOf<'tool_call_cancel'>
  | {
      readonly type: 'result_acknowledged';
      readonly id: string;
      readonly disposition: 'accepted' | 'duplicate' | 'late' | 'rejected';
      /** Why it was rejected. */
      readonly code?: string;
      readonly message?: string;
    }
  | {
      readonly type: 'tool_call';
      readonly id: string;
      readonly name: string;
      readonly args: Readonly<Record<string, unknown>>;
    }
  /** The call waits for a person, who allows it or answers it. */
  | {
      readonly type: 'tool_call_waiting';
      readonly id: string;
      readonly name: string;
      readonly for: 'approval' | 'answer';
      /** Milliseconds until it ends undecided, by the server's clock; not there while no clock runs. */
      readonly remaining_ms?: number;
      readonly message: string;
    }
  | {
      readonly type: 'tool_result';
      readonly id: string;
      readonly name: string;
      readonly output: string;
      readonly success: boolean;
      readonly error?: { readonly code: string; readonly message: string };
    }
  | { readonly type: 'chunk' | 'thinking'; readonly content: string }
  | { readonly type: 'chunk_reset' }
  | { readonly type: 'done'; readonly full_response: string }
  | { readonly type: 'abort_ack'; readonly status: 'aborted' | 'no_active_response' }
  | { readonly type: 'aborted' }
  | { readonly type: 'title_updated'; readonly title: string }
  | ErrorFrame;

export interface ToolSpecFrame {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** The first twelve are ClawSeed's; the others are for what it does not refuse. */
export type ErrorCode =
  | 'SESSION_OWNER_MISMATCH'
  | 'SESSION_BIND_FAILED'
  | 'AGENT_INIT_FAILED'
  | 'INVALID_JSON'
  | 'UNKNOWN_MESSAGE_TYPE'
  | 'EMPTY_CONTENT'
  | 'SESSION_BUSY'
  | 'NO_USER_MESSAGE'
  | 'AUTH_ERROR'
  | 'PROVIDER_ERROR'
  | 'AGENT_ERROR'
  | 'INVALID_MESSAGE'
  | 'PERMISSION_DENIED'
  | 'SHUTTING_DOWN'
  | 'STORE_FAILED';

export interface ErrorFrame {
  readonly type: 'error';
  readonly message: string;
  readonly code: ErrorCode;
}

export const errorFrame = (code: ErrorCode, message: string): ErrorFrame => ({
  type: 'error',
  message,
  code,
});
