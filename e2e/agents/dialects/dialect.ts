/** The model does this next. Arguments are always empty. */
export type Turn =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'call'; readonly id: string; readonly name: string };

export interface Asked {
  /** The names of the tools that it may call. */
  readonly tools: readonly string[];
  /** The results of tool calls in the whole conversation. */
  readonly results: number;
  readonly streams: boolean;
}

/** One of the languages in which agents talk to models. */
export interface Dialect {
  read(body: string): Asked;
  /** The text of an answer by Server-Sent Events. */
  stream(turn: Turn): string;
  /** The same as one JSON value. */
  whole(turn: Turn): object;
}

export const MODEL = 'scripted';
