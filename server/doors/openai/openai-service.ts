import { z } from 'zod';
import { closedObject } from '#lib/protocol/closed-object';
import type { ChatCompletionBody, ResponseBody } from '#lib/protocol/openai-api';
import type { DoorRequest, DoorSink, TurnEvent } from '../room.ts';

/** Tokens of one turn, as far as its providers count them. */
export interface Tokens {
  readonly input: number;
  readonly output: number;
}

/** Where a streamed answer goes. */
export type OpenAiSink = DoorSink<object | '[DONE]'>;

export interface Failure {
  readonly code: string;
  readonly message: string;
}

export type WholeAnswer =
  | { readonly ok: true; readonly json: object }
  | { readonly ok: false; readonly error: Failure };

/** Whole, or what sends it, until the function that it returns is called. */
export type OpenAiAnswer = WholeAnswer | { readonly stream: (sink: OpenAiSink) => () => void };

export interface AnswerHead {
  /** The id of the message that is answered. */
  readonly id: string;
  readonly model: string;
  /** Unix seconds. */
  readonly created: number;
}

/** An answer in one of the two forms: the objects that a stream is sent, and the whole. */
export interface Answer {
  /** A program may repeat it in each of these, and is known by them. */
  readonly forms: readonly string[];
  begin(): readonly object[];
  take(event: TurnEvent): readonly object[];
  end(tokens: Tokens): readonly (object | '[DONE]')[];
  failed(error: Failure): readonly object[];
  whole(tokens: Tokens): object;
}

/** The built-in agent for programs that speak the API of OpenAI. Throws `HttpError` with why not. */
export interface OpenAiService {
  chat(request: DoorRequest<ChatCompletionBody>): Promise<OpenAiAnswer>;
  respond(request: DoorRequest<ResponseBody>): Promise<OpenAiAnswer>;
}

/** `openai_api` in the configuration file. */
export const openAiConfigSchema = closedObject({
  enabled: z.boolean().default(false),
  /** How a chat completion shows the calls of its turn: a line of text each, or not at all. */
  chat_calls: z.enum(['lines', 'none']).default('lines'),
  /**
   * How a response does: an item `mcp_call` each, which programs take for made; the items
   * `function_call` and `function_call_output`, which some would make once more; or as above.
   */
  response_calls: z.enum(['mcp_call', 'function_call', 'lines', 'none']).default('mcp_call'),
}).prefault({});

export type OpenAiConfig = z.infer<typeof openAiConfigSchema>;
