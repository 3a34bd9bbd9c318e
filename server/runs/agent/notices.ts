import type { NoticeCode } from '#lib/protocol/notice-codes';
import type { NoticeParams } from '#lib/protocol/run';
import { type FactsOf, fillText, type TurnError } from './describe-model-error.ts';
import type { UnfitTool } from './model-tools.ts';

/** What a turn has to say of itself: a code with its facts for pages, English words for the rest. */
export interface Notice {
  readonly code: NoticeCode;
  readonly text: string;
  readonly params?: NoticeParams;
}

const TEXTS = {
  step_limit: 'The limit of {steps} steps ended this turn.',
  repeated_calls:
    'The model made the same call of {tool} {count} times with the same result; this ended the turn.',
  tool_timeouts:
    '{tool} timed out {count} times in a row; the turn was paused. Send a message to go on.',
  arguments_cut:
    'The model reached its output limit {count} times in a row while it wrote the arguments of {tool}; this ended the turn.',
  tool_failures:
    '{tool} failed {count} times in a row with the same error; the turn was paused. Send a message to go on.',
  budget_seconds: 'The limit of {limit} seconds ended this turn.',
  budget_calls: 'The limit of {limit} calls ended this turn.',
  budget_tokens: 'The limit of {limit} tokens ended this turn.',
  empty_answers: 'The model answered with nothing {count} times in a row; this ended the turn.',
  tools_left_out:
    '{offered} of {available} tools were offered to the model, which takes no more. A tool whose name is in the message is always among them.',
  calls_left_out:
    'The model made {count} more calls in one step than are recorded; they were not run. A step runs at most {limit} calls.',
  calls_as_text:
    'The model wrote a call of {tool} as text, so it did not run. Set "tool_calling": "text" for "{model}" under "models" in the configuration file, then restart the server.',
  history_left_out:
    '{model} was not sent the oldest part of this conversation, for which its context has no room: {count} messages.',
  images_refused: 'The provider of {model} refused a picture. The answer was made without it.',
  content_refused:
    'The provider of {model} refused parts of the request, which are not sent any more: {names}.',
} as const satisfies Partial<Record<NoticeCode, string>>;

export const notice = <Code extends keyof typeof TEXTS>(
  code: Code,
  params: FactsOf<(typeof TEXTS)[Code]>,
): Notice => ({ code, text: fillText(TEXTS[code], params), params });

export const ANSWER_CUT: Notice = {
  code: 'answer_cut',
  text: 'The model reached its output limit; the answer is cut.',
};

export const ANSWER_FILTERED: Notice = {
  code: 'answer_filtered',
  text: "The provider's filter ended the answer.",
};

export const stopped = (by: string | undefined): Notice => ({
  code: 'cancelled',
  ...(by === undefined ? { text: 'Stopped.' } : { text: `Stopped by ${by}.`, params: { by } }),
});

export const toolsUnfit = (model: string, { name, reason }: UnfitTool, more: number): Notice => ({
  code: 'tools_unfit',
  text: `${model} is not offered the tool ${name}${more > 0 ? ` and ${more} more` : ''}, as its API takes no form of the schema: ${reason}.`,
  params: { model, tool: name, more, detail: reason },
});

export const failure = ({ code, message, params }: TurnError): Notice => ({
  code,
  text: message,
  ...(params === undefined ? {} : { params }),
});
