import { DEFAULT_MODEL } from '#lib/protocol/openai-api';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import { answerAside } from '../../runs/room.ts';
import { type DoorRequest, failureOf, type TurnEvent } from '../room.ts';
import { ChatCompletion } from './chat-completion.ts';
import {
  type Asking,
  type BegunTurn,
  ConversationRuns,
  type ConversationRunsDeps,
} from './conversation-runs.ts';
import type {
  Answer,
  AnswerHead,
  OpenAiAnswer,
  OpenAiConfig,
  OpenAiService,
  OpenAiSink,
  Tokens,
  WholeAnswer,
} from './openai-service.ts';
import { type Conversation, isBackgroundTask, readChat, readResponse } from './read-messages.ts';
import { ResponseItems } from './response-object.ts';

export interface OpenAiServiceDeps extends ConversationRunsDeps {
  readonly config: OpenAiConfig;
  readonly models: Parameters<typeof answerAside>[0];
  readonly clock: Pick<Clock, 'now'>;
  readonly logger: Logger;
}

/** A request has this on both of the paths. */
type Posted = DoorRequest<
  Pick<Parameters<OpenAiService['chat']>[0]['body'], 'model' | 'user' | 'stream'>
>;

/** The API of OpenAI for the built-in agent (rules OA in SPEC.md). */
export function createOpenAiService(deps: OpenAiServiceDeps): OpenAiService {
  const { config, models, clock, newSecret } = deps;
  const conversations = new ConversationRuns(deps);

  /** `makeAnswer`: in the form of the path. */
  async function answer(
    { caller, address, body, signal }: Posted,
    conversation: Conversation,
    makeAnswer: (head: AnswerHead) => Answer,
  ): Promise<OpenAiAnswer> {
    const model = body.model === DEFAULT_MODEL ? undefined : body.model;
    const made = (id: string) =>
      makeAnswer({ id, model: body.model, created: Math.floor(clock.now() / 1000) });
    if (isBackgroundTask(conversation, body.stream === true)) {
      const { instructions, earlier, asked } = conversation;
      const messages = [...earlier, ...asked];
      const aside = await answerAside(models, { model, instructions, messages, signal });
      const id = newSecret();
      return aside.ok ? answerTask(made(id), { ...aside, id }, body.stream === true) : aside;
    }
    const asking = { caller, address, conversation, model, user: body.user || undefined };
    const begun = await conversations.begin(asking);
    const turn = new AnsweredTurn(deps, { asking, begun, answer: made(begun.messageId) });
    if (signal.aborted) turn.leave();
    signal.addEventListener('abort', () => turn.leave(), { once: true });
    if (!body.stream) return turn.follow();
    return {
      stream(sink) {
        void turn.follow(sink);
        return () => turn.leave();
      },
    };
  }

  return {
    chat: (request) => {
      const includesUsage = request.body.stream_options?.include_usage === true;
      return answer(
        request,
        readChat(request.body),
        (head) => new ChatCompletion(head, config.chat_calls, includesUsage),
      );
    },
    respond: (request) =>
      answer(
        request,
        readResponse(request.body),
        (head) => new ResponseItems(head, config.response_calls),
      ),
  };
}

/** A title or the like, which a front end asks for itself: no run, no tools (OA21). */
function answerTask(
  answer: Answer,
  { id, text, tokens }: { readonly id: string; readonly text: string; readonly tokens: Tokens },
  isStreamed: boolean,
): OpenAiAnswer {
  const events: TurnEvent[] = [
    { type: 'text', messageId: id, delta: text, isFirst: true },
    { type: 'text_end', messageId: id },
  ];
  const pieces = [...answer.begin(), ...events.flatMap((event) => answer.take(event))];
  if (!isStreamed) return { ok: true, json: answer.whole(tokens) };
  return {
    stream(sink) {
      for (const piece of [...pieces, ...answer.end(tokens)]) sink.send(piece);
      sink.end();
      return () => undefined;
    },
  };
}

const LEFT = { code: 'cancelled', message: 'The program left, so the turn was stopped.' };

interface TurnParts {
  readonly asking: Asking;
  readonly begun: BegunTurn;
  readonly answer: Answer;
}

/** A turn whose answer one program waits for: it is stopped when that leaves (rule OA8). */
class AnsweredTurn {
  readonly #deps: OpenAiServiceDeps;
  readonly #parts: TurnParts;
  readonly #answered = Promise.withResolvers<WholeAnswer>();
  #isOver = false;

  constructor(deps: OpenAiServiceDeps, parts: TurnParts) {
    this.#deps = deps;
    this.#parts = parts;
  }

  /** Resolves to the whole answer; `sink` is sent it piece by piece. */
  follow(sink?: OpenAiSink): Promise<WholeAnswer> {
    const { answer, begun } = this.#parts;
    let usage = begun.usedBefore;
    const send = (pieces: readonly (object | '[DONE]')[]) => {
      for (const piece of pieces) sink?.send(piece);
    };
    send(answer.begin());
    begun.stream.follow((event) => {
      if (event.type === 'run') usage = event.run.usage ?? usage;
      send(answer.take(event));
      if (event.type !== 'end') return;
      const tokens = usedBetween(begun.usedBefore, usage);
      const error = event.run.status === 'failed' ? failureOf(event.run) : undefined;
      if (sink) send(error ? answer.failed(error) : answer.end(tokens));
      sink?.end();
      this.#end(error ? { ok: false, error } : { ok: true, json: answer.whole(tokens) });
    });
    return this.#answered.promise;
  }

  /** The program has left: what it does not read is not written. */
  leave(): void {
    if (this.#isOver) return;
    this.#end({ ok: false, error: LEFT });
    const { caller, address } = this.#parts.asking;
    const { run_id: runId } = this.#parts.begun.run;
    this.#deps.doorRuns.stop({ caller, address, runId }).catch(this.#deps.logger.error);
  }

  #end(whole: WholeAnswer): void {
    this.#isOver = true;
    const { begun, answer } = this.#parts;
    begun.stream.close();
    begun.answered(answer.forms);
    this.#answered.resolve(whole);
  }
}

const usedBetween = (before: BegunTurn['usedBefore'], after: BegunTurn['usedBefore']): Tokens => ({
  input: (after?.input_tokens ?? 0) - (before?.input_tokens ?? 0),
  output: (after?.output_tokens ?? 0) - (before?.output_tokens ?? 0),
});
