import type { Callboard } from '../../start-callboard.ts';
import { openSocket, type Socket, type SocketOptions } from './socket.ts';

type ChatType =
  | 'session_start'
  | 'connected'
  | 'tools_registered'
  | 'registered_tools'
  | 'tool_call_request'
  | 'tool_call_cancel'
  | 'result_acknowledged'
  | 'tool_call'
  | 'tool_result'
  | 'chunk'
  | 'thinking'
  | 'chunk_reset'
  | 'done'
  | 'abort_ack'
  | 'aborted'
  | 'title_updated'
  | 'error';

/** A frame of `/ws/chat`, read as a ClawSeed app reads it: by its type and the fields that it looks for. */
type FrameOf<T> = { readonly type: T; readonly [field: string]: unknown };
type ChatFrame = { [T in ChatType]: FrameOf<T> }[ChatType];

export interface ChatApp extends Socket<ChatFrame> {
  /** A frame of this type with its text fields as texts. */
  text(type: ChatType): Promise<Readonly<Record<string, string>>>;
}

export interface ChatOptions extends SocketOptions {
  readonly session?: string;
  /** Behind the session in the address. */
  readonly query?: string;
}

/** Opens `/ws/chat` as OkHttp does for the app. */
export async function connectChat(
  board: Callboard,
  { session, query = '', ...options }: ChatOptions = {},
): Promise<ChatApp> {
  const named = session === undefined ? '' : `session_id=${encodeURIComponent(session)}`;
  const path = `/ws/chat?${[named, query].filter((part) => part !== '').join('&')}`;
  const socket = await openSocket(board, path, (value) => [value as ChatFrame], {
    protocols: ['clawseed.v1'],
    ...options,
  });
  return {
    ...socket,
    async text(type) {
      const frame = await socket.next(type);
      return Object.fromEntries(Object.entries(frame).map(([key, value]) => [key, String(value)]));
    },
  };
}
