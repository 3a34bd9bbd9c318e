import { DEFAULT_MODEL } from '#lib/protocol/openai-api';
import type { RunRecord } from '#lib/protocol/run';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import { answerAside } from '../../runs/room.ts';
import { failureOf, type TurnEvent } from '../room.ts';
import { type AnswerHead, ChatText, completionOf, createChatChunks } from './chat-completion.ts';
import {
  type Asking,
  type BegunTurn,
  ConversationRuns,
  type ConversationRunsDeps,
} from './conversation-runs.ts';
import type {
  OpenAiAnswer,
  OpenAiConfig,
  OpenAiRequest,
  OpenAiService,
  OpenAiSink,
  Tokens,
} from './openai-service.ts';
import { type Conversation, isBackgroundTask, readChat, readResponse } from './read-messages.ts';
import { ResponseItems } from './response-object.ts';

export interface OpenAiServiceDeps extends ConversationRunsDeps {
  readonly config: OpenAiConfig;
  readonly models: Parameters<typeof answerAside>[0];
  readonly clock: Pick<Clock, 'now'>;
  readonly logger: Logger;
}

/** One kind of answer: the objects of its stream, and the whole. */
interface Shape {
  readonly begin: () => readonly object[];
  readonly take: (event: TurnEvent) => readonly object[];
  readonly end: (tokens: Tokens) => readonly (object | '[DONE]')[];
  readonly failed: (error: { code: string; message: string }) => readonly object[];
  readonly whole: (tokens: Tokens) => object;
  readonly forms: () => readonly string[];
}

/** The API of OpenAI for the built-in agent (rules OA in SPEC.md). */
export function createOpenAiService(deps: OpenAiServiceDeps): OpenAiService {
  const conversations = new ConversationRuns(deps);
  const answer = async (
    request: Posted,
    conversation: Conversation,
    shapeOf: (head: AnswerHead) => Shape,
  ): Promise<OpenAiAnswer> => {
    const { caller, address, body } = request;
    const model = body.model === DEFAULT_MODEL ? undefined : body.model;
    if (isBackgroundTask(conversation, body.stream === true)) {
      return answerTask(deps, { request, model, conversation }, shapeOf);
    }
    const asking = { caller, address, conversation, model, user: body.user || undefined };
    const begun = await conversations.begin(asking);
    const created = Math.floor(deps.clock.now() / 1000);
    const shape = shapeOf({ id: begun.messageId, model: body.model, created });
    const turn = new AnsweredTurn(deps, { asking, begun, shape });
    if (request.signal.aborted) turn.leave();
    request.signal.addEventListener('abort', () => turn.leave(), { once: true });
    return body.stream ? { stream: (sink) => turn.stream(sink) } : turn.whole();
  };
  return {
    chat: (request) => {
      const { stream_options: options } = request.body;
      const conversation = readChat(request.body);
      const shapeOf = (head: AnswerHead) =>
        chatShape(head, deps.config.chat_calls, options?.include_usage === true);
      return answer(request, conversation, shapeOf);
    },
    respond: (request) =>
      answer(request, readResponse(request.body), (head) =>
        responseShape(head, deps.config.response_calls),
      ),
  };
}

/** A request has this on both of the paths. */
type Posted = OpenAiRequest<
  Pick<Parameters<OpenAiService['chat']>[0]['body'], 'model' | 'user' | 'stream'>
>;

interface TaskAsked {
  readonly request: Posted;
  readonly model: string | undefined;
  readonly conversation: Conversation;
}

/** A title or the like, which a front end asks for itself: no run, no tools (OA21). */
async function answerTask(
  { models, clock, newSecret }: OpenAiServiceDeps,
  { request: { body, signal }, model, conversation }: TaskAsked,
  shapeOf: (head: AnswerHead) => Shape,
): Promise<OpenAiAnswer> {
  const { instructions, earlier, asked } = conversation;
  const messages = [...earlier, ...asked];
  const answer = await answerAside(models, { model, instructions, messages, signal });
  if (!answer.ok) return answer;
  const messageId = newSecret();
  const created = Math.floor(clock.now() / 1000);
  const shape = shapeOf({ id: messageId, model: body.model, created });
  const begin = shape.begin();
  const events: TurnEvent[] = [
    { type: 'text', messageId, delta: answer.text, isFirst: true },
    { type: 'text_end', messageId },
  ];
  const sent = events.flatMap((event) => shape.take(event));
  if (!body.stream) return { ok: true, json: shape.whole(answer.tokens) };
  return {
    stream(sink) {
      for (const one of [...begin, ...sent, ...shape.end(answer.tokens)]) sink.send(one);
      sink.end();
      return () => undefined;
    },
  };
}

function chatShape(
  head: AnswerHead,
  calls: OpenAiConfig['chat_calls'],
  includesUsage: boolean,
): Shape {
  const text = new ChatText(calls);
  const chunks = createChatChunks(head, includesUsage);
  return {
    begin: () => [chunks.begin()],
    take: (event) => {
      const delta = text.take(event);
      return delta === '' ? [] : [chunks.text(delta)];
    },
    end: (tokens) => [...chunks.end(tokens), '[DONE]'],
    failed: ({ code, message }) => [
      { error: { message, type: 'server_error', param: null, code } },
    ],
    whole: (tokens) => completionOf(head, text.text, tokens),
    forms: () => [text.text],
  };
}

function responseShape(head: AnswerHead, calls: OpenAiConfig['response_calls']): Shape {
  const items = new ResponseItems(head, calls);
  return {
    begin: () => items.begin(),
    take: (event) => items.take(event),
    end: (tokens) => [items.end(tokens)],
    failed: (error) => [items.failed(error)],
    whole: (tokens) => items.whole(tokens),
    forms: () => items.forms,
  };
}

const LEFT = { code: 'cancelled', message: 'The program left, so the turn was stopped.' };

interface TurnParts {
  readonly asking: Asking;
  readonly begun: BegunTurn;
  readonly shape: Shape;
}

/** A turn whose answer one program waits for: it is stopped when that leaves (rule OA8). */
class AnsweredTurn {
  readonly #deps: OpenAiServiceDeps;
  readonly #parts: TurnParts;
  #usage: RunRecord['usage'];
  #isOver = false;
  #left: (() => void) | undefined;

  constructor(deps: OpenAiServiceDeps, parts: TurnParts) {
    this.#deps = deps;
    this.#parts = parts;
    this.#usage = parts.begun.usedBefore;
  }

  stream(sink: OpenAiSink): () => void {
    const { shape } = this.#parts;
    const send = (some: readonly (object | '[DONE]')[]) => {
      for (const one of some) sink.send(one);
    };
    send(shape.begin());
    this.#follow((event) => {
      send(shape.take(event));
      if (event.type !== 'end') return;
      const hasFailed = event.run.status === 'failed';
      send(hasFailed ? shape.failed(failureOf(event.run)) : shape.end(this.#tokens()));
      sink.end();
    });
    return () => this.leave();
  }

  whole(): Promise<OpenAiAnswer> {
    const { shape } = this.#parts;
    return new Promise((resolve) => {
      this.#left = () => resolve({ ok: false, error: LEFT });
      if (this.#isOver) this.#left();
      this.#follow((event) => {
        shape.take(event);
        if (event.type !== 'end') return;
        if (event.run.status === 'failed') resolve({ ok: false, error: failureOf(event.run) });
        else resolve({ ok: true, json: shape.whole(this.#tokens()) });
      });
    });
  }

  /** The program has left: what it does not read is not written. */
  leave(): void {
    if (this.#isOver) return;
    this.#end();
    this.#left?.();
    const { caller, address } = this.#parts.asking;
    const { run_id: runId } = this.#parts.begun.run;
    this.#deps.doorRuns.stop({ caller, address, runId }).catch(this.#deps.logger.error);
  }

  #follow(take: (event: TurnEvent) => void): void {
    this.#parts.begun.stream.follow((event) => {
      if (event.type === 'run') this.#usage = event.run.usage ?? this.#usage;
      take(event);
      if (event.type === 'end') this.#end();
    });
  }

  #end(): void {
    this.#isOver = true;
    const { begun, shape } = this.#parts;
    begun.stream.close();
    begun.answered(shape.forms());
  }

  #tokens(): Tokens {
    const { usedBefore } = this.#parts.begun;
    return {
      input: (this.#usage?.input_tokens ?? 0) - (usedBefore?.input_tokens ?? 0),
      output: (this.#usage?.output_tokens ?? 0) - (usedBefore?.output_tokens ?? 0),
    };
  }
}
