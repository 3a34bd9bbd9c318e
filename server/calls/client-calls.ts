import { hash } from 'node:crypto';
import type { Call, Deadlines } from '#lib/call/call';
import type { Actor, CallEvent, Via } from '#lib/call/call-event';
import type { Answerer, Refusal } from '#lib/call/call-state';
import { SHOWN_WHOLE_BYTES } from '#lib/call/merge-card';
import { rememberJsonText } from '#lib/json/json-text';
import { fitsJson } from '#lib/json/measure-json';
import type { Attachment } from '#lib/protocol/attachment';
import type { CallError } from '#lib/protocol/call-status';
import type { CardUpdate } from '#lib/protocol/card';
import type { ClientMessageOf } from '#lib/protocol/client-messages';
import { LIMITS } from '#lib/protocol/limits';
import type { ResultRejectionCode, ServerMessageOf } from '#lib/protocol/server-messages';
import { withoutSecretNames } from '#lib/text/redact';
import type { CallParts } from './call-parts.ts';
import { type ResultFilter, type ToolResult, withNotes } from './result-filter.ts';

/** A client's answer, its attachments stored already. */
export type ClientAnswer =
  | {
      readonly ok: true;
      readonly output: unknown;
      readonly display?: unknown;
      readonly attachments: readonly Attachment[];
    }
  | { readonly ok: false; readonly message: string; readonly clientCode?: string }
  /** Its answer cannot be taken: the call fails, and the client may forget it. */
  | {
      readonly ok: 'unusable';
      readonly code: 'result_invalid' | 'result_too_large';
      readonly message: string;
    };

export type AnswerReply =
  | ServerMessageOf<'result_acknowledged'>
  | ServerMessageOf<'result_rejected'>;
export type ClaimReply =
  | ServerMessageOf<'tool_call_granted'>
  | ServerMessageOf<'tool_call_refused'>;

/** `via`: by which token and from where it is connected (AU36). */
export type ClientSender = Answerer & { readonly via?: Via | undefined };

/** Client instances say something about calls. Replies are to be sent when the promise resolves: all is on disk then. */
export class CallsOfClients {
  readonly #deps: CallParts;

  constructor(deps: CallParts) {
    this.#deps = deps;
  }

  async claim(from: ClientSender & { attempt: number }, id: string): Promise<ClaimReply> {
    const { attempt } = from;
    const refuse = (reason: string): ClaimReply => ({
      type: 'tool_call_refused',
      id,
      attempt,
      reason,
    });
    const call = this.#deps.repository.latest(id) ?? (await this.#deps.repository.find(id));
    if (!call) return refuse('unknown_call');
    const isGivenUp = this.#deps.index.hasGivenUp(from.instanceId, id, attempt);
    const event = { type: 'claimed', from, isGivenUp } as const;
    const applied = this.#deps.engine.apply(call, event, clientActor(from));
    // fault point: claim-came
    // A claim that comes twice gets its grant twice: a refusal could overtake the grant.
    // guard: repeated-claim-granted-again
    const isGranted = !applied.ok && applied.refusal === 'granted_before';
    if (!applied.ok && !isGranted) return refuse(applied.refusal);
    await (applied.ok ? this.#deps.engine.grantReady(id) : this.#deps.repository.settled(id));
    // fault point: grant-ready
    const now = this.#deps.repository.latest(id);
    // Until the grant has left, a cancel may still take it back (CA14).
    const isHeld = now?.phase === 'granted' || now?.phase === 'device';
    if (!isHeld || now.provider?.attempt !== attempt) return refuse('already_final');
    this.#deps.engine.grantLeaves(id);
    const steady = this.#deps.clock.steady();
    const { execute = steady }: Deadlines = now.deadlines;
    const remaining = execute - steady;
    return {
      type: 'tool_call_granted',
      id,
      attempt,
      remaining_ms: Math.max(0, Math.round(remaining)),
    };
  }

  /** Shown to people; ignored unless it comes from the instance that was asked. */
  status(from: ClientSender, message: ClientMessageOf<'tool_status'>): void {
    const call = this.#deps.repository.latest(message.id);
    if (!call) return;
    if (message.phase) {
      const event = { type: 'device', asking: message.phase === 'device', from } as const;
      this.#deps.engine.apply(call, event, clientActor(from));
    }
    const { tip, params, progress, preview } = message;
    const update = {
      ...(tip === undefined ? {} : { tip }),
      ...(params === undefined ? {} : besideArguments(params, call)),
      ...(progress === undefined ? {} : { progress }),
      ...(preview === undefined ? {} : { preview }),
    };
    if (Object.keys(update).length > 0)
      this.#deps.engine.status(message.id, update, clientActor(from), from);
  }

  async answer(from: ClientSender, id: string, given: ClientAnswer): Promise<AnswerReply> {
    const call = this.#deps.repository.latest(id) ?? (await this.#deps.repository.find(id));
    if (!call) return reject(id, 'unknown_call', `No call ${id} is known here`);
    const measured = measure(given);
    // fault point: result-came
    // An answer of another client is refused before anybody looks at it.
    const isOurs = call.provider?.clientId === from.clientId;
    if (!isOurs || !this.#deps.results?.isFor(call.toolName))
      return this.#settle(call, from, measured, {});
    const { answer, notes } = await filterAnswer(
      this.#deps.results,
      call,
      this.#deps.withholding.hidden(call, measured.answer),
    );
    // The call stays as it became meanwhile.
    const now = this.#deps.repository.latest(id) ?? (await this.#deps.repository.find(id)) ?? call;
    return this.#settle(now, from, { ...measured, answer }, withNotes(now, notes));
  }

  async #settle(
    call: Call,
    from: ClientSender,
    { answer, hash: resultHash }: Measured,
    noted: Pick<CallEvent, 'shown'>,
  ): Promise<AnswerReply> {
    const { engine, repository } = this.#deps;
    const report = { from, error: toError(answer), fields: { ...outputOf(answer), resultHash } };
    const applied = engine.apply(
      call,
      { type: 'answered', ...report, ...noted },
      clientActor(from),
    );
    if (applied.ok) {
      // guard: acknowledged-once-written
      await applied.written;
      if (answer.ok === 'unusable') return reject(call.id, answer.code, answer.message);
      // fault point: result-written
      return acknowledge(call.id, 'accepted');
    }
    if (applied.refusal !== 'already_final') return replyTo(call, from, applied.refusal);
    const late = engine.apply(call, { type: 'late_answer', ...report }, clientActor(from));
    await repository.settled(call.id);
    return replyTo(call, from, late.ok ? 'late' : late.refusal);
  }

  /** True when the call was given to this client, whatever has become of it. */
  async wasAsked(clientId: string, id: string): Promise<boolean> {
    return (await this.#deps.repository.find(id))?.provider?.clientId === clientId;
  }
}

/**
 * What a client reports is shown beside the arguments, never over them: of a
 * key that is an argument the card keeps what the executor got (rule CR7).
 */
function besideArguments(
  given: Record<string, unknown>,
  { args, card }: Call,
): Pick<CardUpdate, 'params' | 'status_params' | 'argument_names'> {
  const params = withoutSecretNames(given);
  const names = Object.keys(args);
  const reported = { ...card.status_params, ...params };
  // A card is bounded: what a client reports beyond that, over all its statuses, is not shown.
  if (!fitsJson([reported, names], SHOWN_WHOLE_BYTES)) return {};
  const more = Object.fromEntries(
    Object.entries(params).filter(([key]) => !Object.hasOwn(args, key)),
  );
  // Long arguments leave no room among them (CA20).
  const hasRoom = fitsJson({ ...card.params, ...more }, SHOWN_WHOLE_BYTES);
  return {
    params: hasRoom ? more : {},
    status_params: params,
    ...(card.argument_names ? {} : { argument_names: names }),
  };
}

/** Attachments go with the output that they came with. */
async function filterAnswer(results: ResultFilter, call: Call, given: ClientAnswer) {
  if (given.ok === 'unusable') return { answer: given, notes: [] };
  const filtered = await results.filter(call, toResult(given));
  const { notes } = filtered;
  if ('withheld' in filtered) {
    const { withheld: message } = filtered;
    return { answer: { ok: 'unusable', code: 'result_invalid', message } as const, notes };
  }
  const { result, isReplaced } = filtered;
  if (!isReplaced) return { answer: given, notes };
  return { answer: result.ok ? { ...result, attachments: [] } : { ...given, ...result }, notes };
}

const toResult = (given: Exclude<ClientAnswer, { ok: 'unusable' }>): ToolResult =>
  given.ok
    ? {
        ok: true,
        output: given.output,
        ...(given.display === undefined ? {} : { display: given.display }),
      }
    : { ok: false, message: given.message };

interface Measured {
  readonly answer: ClientAnswer;
  readonly hash: string;
}

/** One serialisation serves the size limit and the hash. */
function measure(given: ClientAnswer): Measured {
  const text = JSON.stringify(given);
  rememberOutput(given, text);
  const digest = hash('sha256', text);
  // A character takes at most three bytes, so a short text need not be measured.
  const bytes = text.length * 3 <= LIMITS.resultBytes ? 0 : Buffer.byteLength(text);
  if (given.ok !== true || bytes <= LIMITS.resultBytes) return { answer: given, hash: digest };
  const message = `The result has ${bytes} bytes; at most ${LIMITS.resultBytes} are taken. Send large data as an attachment`;
  return { answer: { ok: 'unusable', code: 'result_too_large', message }, hash: digest };
}

/** The text of the output stands in that of the answer: it is not made again. */
function rememberOutput(given: ClientAnswer, text: string): void {
  if (given.ok !== true || !text.startsWith(BEFORE_OUTPUT)) return;
  const isAlone = given.attachments.length === 0 && given.display === undefined;
  const after = isAlone
    ? NOTHING_BESIDE.length
    : JSON.stringify({ ...given, output: undefined }).length - '{"ok":true'.length;
  const output = text.slice(BEFORE_OUTPUT.length, text.length - after);
  // A small part of a large text would keep all of it in memory.
  if (isAlone || output.length * 2 > text.length) rememberJsonText(given.output, output);
}

const BEFORE_OUTPUT = '{"ok":true,"output":';
const NOTHING_BESIDE = ',"attachments":[]}';

const outputOf = (given: ClientAnswer) =>
  given.ok === true
    ? { result: given.output, display: given.display, attachments: given.attachments }
    : {};

function toError(given: ClientAnswer): CallError | null {
  if (given.ok === true) return null;
  if (given.ok === 'unusable') {
    return { code: given.code, message: given.message, executed: 'yes' };
  }
  if (given.clientCode === 'outcome_unknown') {
    return { code: 'outcome_unknown', message: given.message, executed: 'unknown' };
  }
  return {
    code: isOwnCode(given.clientCode) ? given.clientCode : 'tool_error',
    message: given.message,
    executed: given.clientCode === 'cancelled' ? 'unknown' : 'yes',
    ...(given.clientCode === undefined ? {} : { client_code: given.clientCode }),
  };
}

/** A client reports these in the words of a call's own errors: it was stopped, or its result cannot be sent. */
const isOwnCode = (code: string | undefined): code is 'cancelled' | 'result_too_large' =>
  code === 'cancelled' || code === 'result_too_large';

function replyTo(
  { id, provider }: Call,
  { clientId }: ClientSender,
  refusal: Refusal,
): AnswerReply {
  switch (refusal) {
    case 'duplicate':
    case 'late':
      return acknowledge(id, refusal);
    case 'not_your_call':
      return provider?.clientId === clientId
        ? reject(id, refusal, 'Only the instance that was asked may answer')
        : reject(id, refusal, `The call ${id} was not given to this client`);
    case 'stale_attempt':
      return reject(id, refusal, 'This attempt was given up; answer the newest one');
    case 'not_granted':
      return reject(id, refusal, 'The call was not granted to this attempt; claim it first');
    case 'other_late_answer':
      return reject(id, 'conflict', `The call ${id} has another late answer already; it is kept`);
    default:
      return reject(id, 'conflict', `The call ${id} has another answer already; it stands`);
  }
}

const acknowledge = (
  id: string,
  disposition: ServerMessageOf<'result_acknowledged'>['disposition'],
): AnswerReply => ({ type: 'result_acknowledged', id, disposition });

const reject = (id: string, code: ResultRejectionCode, message: string): AnswerReply => ({
  type: 'result_rejected',
  id,
  code,
  message,
  final: true,
});

/** As events of calls name a client; `via` where it is connected (AU36). */
export function clientActor({
  clientId,
  via,
}: {
  readonly clientId: string;
  readonly via?: Via | undefined;
}): Actor {
  const name = `client:${clientId}`;
  return via ? { name, via } : name;
}
