import { type ClientToolContext, ToolFailure } from '../client/client-tool.ts';
import { errorMessage } from '../util/error-message.ts';
import type { DevicePrompts, PersonPrompt } from './browser-env.ts';
import { waitMs } from './wait-ms.ts';
import { isNotAllowed } from './with-permission.ts';

/** The person was asked, and did not want to. */
export const declined = (what: string): ToolFailure =>
  new ToolFailure(
    'declined',
    `The person at this device declined ${what}. Ask them in the conversation before you call it again.`,
  );

export interface TouchQuestion
  extends Pick<PersonPrompt, 'tool' | 'message' | 'variant' | 'detail'> {
  /** To follow "declined", e.g. `to choose files`. */
  readonly what: string;
}

/**
 * Acts inside a touch of the person: browsers permit some things nowhere else (BT60). The tap that
 * has just allowed this call is one; without it, or where the browser refuses, the person is asked.
 * The clock of the call stands still until `act` has ended.
 */
export function withTouch<T>(
  prompts: DevicePrompts,
  question: TouchQuestion,
  context: ClientToolContext,
  act: () => Promise<T>,
): Promise<T> {
  return context.askDevice(async () => {
    const isInTap = prompts.isInTap?.(context.callId) === true;
    const acted = isInTap ? await actInTap(question, context.signal, act) : undefined;
    return acted ? acted.value : actOnceAllowed(prompts, question, context, act);
  });
}

/** Gives what `act` gave; undefined where the browser did not count the tap. */
async function actInTap<T>(
  { what }: TouchQuestion,
  signal: AbortSignal,
  act: () => Promise<T>,
): Promise<{ readonly value: T } | undefined> {
  const tried = await act().then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  signal.throwIfAborted();
  if ('value' in tried) return tried;
  if (isAbort(tried.error)) throw declined(what);
  if (!isRefusal(tried.error)) throw tried.error;
  return undefined;
}

async function actOnceAllowed<T>(
  prompts: DevicePrompts,
  question: TouchQuestion,
  context: ClientToolContext,
  act: () => Promise<T>,
): Promise<T> {
  let started: Promise<T> | undefined;
  const onAllow = () => {
    if (!context.signal.aborted) started ??= act();
  };
  await ask(prompts, question, context, onAllow);
  // A page that does not call it in the click: most browsers count the touch a moment longer.
  onAllow();
  try {
    return await (started ?? act());
  } catch (error) {
    if (isAbort(error)) throw declined(question.what);
    if (isNotAllowed(error)) throw needsPerson(question.tool, error);
    throw error;
  }
}

/** How long a window of the browser's has before the question comes back. */
const WINDOW_MS = 1_000;

/**
 * The same for a window that a browser may refuse without a word: until `act` has ended the question
 * comes back, to open the window again or to decline.
 */
export function withTouchAndWayOut<T>(
  prompts: DevicePrompts,
  question: TouchQuestion,
  context: ClientToolContext,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return context.askDevice(async () => {
    const ended = new AbortController();
    const signal = AbortSignal.any([context.signal, ended.signal]);
    const outcome = Promise.withResolvers<T>();
    const begin = () => void act(signal).then(outcome.resolve, outcome.reject);
    const askOn = async (isBegun: boolean): Promise<never> => {
      if (isBegun) await waitMs(WINDOW_MS, signal);
      await ask(prompts, question, { ...context, signal }, begin);
      return askOn(true);
    };
    const isInTap = prompts.isInTap?.(context.callId) === true;
    if (isInTap) begin();
    try {
      return await Promise.race([outcome.promise, askOn(isInTap)]);
    } finally {
      ended.abort();
    }
  });
}

/** Resolves once the person has allowed it. */
async function ask(
  prompts: DevicePrompts,
  { what, ...question }: TouchQuestion,
  { callId, signal }: Pick<ClientToolContext, 'callId' | 'signal'>,
  onAllow: () => void,
): Promise<void> {
  const answer = await prompts.ask({ ...question, callId, signal, onAllow });
  signal.throwIfAborted();
  if (answer === 'denied') throw declined(what);
}

const needsPerson = (tool: string, error: unknown): ToolFailure =>
  new ToolFailure(
    'needs_person',
    `The browser permits ${tool} only in a touch of the page, and did not count this one: ${errorMessage(error)}. The person can touch the page and the call can be repeated.`,
  );

/** A browser's own window that the person closed. */
const isAbort = (error: unknown): boolean =>
  error instanceof DOMException && error.name === 'AbortError';

/** A browser that did not count the tap: by an error of its own, or by a window that it blocked. */
const isRefusal = (error: unknown): boolean =>
  isNotAllowed(error) || (error instanceof ToolFailure && error.code === 'unavailable');
