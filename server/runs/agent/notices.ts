import type { NoticeCode } from '#lib/protocol/notice-codes';
import type { NoticeParams } from '#lib/protocol/run';
import type { TurnError } from './describe-model-error.ts';
import type { UnfitTool } from './model-tools.ts';

/** What a turn has to say of itself: a code with its facts for pages, English words for the rest. */
export interface Notice {
  readonly code: NoticeCode;
  readonly text: string;
  readonly params?: NoticeParams;
}

export const stepLimit = (steps: number): Notice => ({
  code: 'step_limit',
  text: `The limit of ${steps} steps ended this turn.`,
  params: { steps },
});

export const repeatedCalls = (tool: string, count: number): Notice => ({
  code: 'repeated_calls',
  text: `The model made the same call of ${tool} ${count} times with the same result; this ended the turn.`,
  params: { tool, count },
});

export const toolTimeouts = (tool: string, count: number): Notice => ({
  code: 'tool_timeouts',
  text: `${tool} timed out ${count} times in a row; the turn was paused. Send a message to go on.`,
  params: { tool, count },
});

export const argumentsCut = (tool: string, count: number): Notice => ({
  code: 'arguments_cut',
  text: `The model reached its output limit ${count} times in a row while it wrote the arguments of ${tool}; this ended the turn.`,
  params: { tool, count },
});

export const toolFailures = (tool: string, count: number): Notice => ({
  code: 'tool_failures',
  text: `${tool} failed ${count} times in a row with the same error; the turn was paused. Send a message to go on.`,
  params: { tool, count },
});

export const budgetSpent = (unit: 'seconds' | 'calls' | 'tokens', limit: number): Notice => ({
  code: `budget_${unit}`,
  text: `The limit of ${limit} ${unit} ended this turn.`,
  params: { limit },
});

export const emptyAnswers = (count: number): Notice => ({
  code: 'empty_answers',
  text: `The model answered with nothing ${count} times in a row; this ended the turn.`,
  params: { count },
});

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

export const toolsLeftOut = (offered: number, available: number): Notice => ({
  code: 'tools_left_out',
  text: `${offered} of ${available} tools were offered to the model, which takes no more. A tool whose name is in the message is always among them.`,
  params: { offered, available },
});

export const toolsUnfit = (model: string, { name, reason }: UnfitTool, more: number): Notice => ({
  code: 'tools_unfit',
  text: `${model} is not offered the tool ${name}${more > 0 ? ` and ${more} more` : ''}, as its API takes no form of the schema: ${reason}.`,
  params: { model, tool: name, more, detail: reason },
});

export const callsLeftOut = (count: number, limit: number): Notice => ({
  code: 'calls_left_out',
  text: `The model made ${count} more calls in one step than are recorded; they were not run. A step runs at most ${limit} calls.`,
  params: { count, limit },
});

export const callsAsText = (tool: string, model: string): Notice => ({
  code: 'calls_as_text',
  text: `The model wrote a call of ${tool} as text, so it did not run. Set "tool_calling": "text" for "${model}" under "models" in the configuration file, then restart the server.`,
  params: { tool, model },
});

export const historyLeftOut = (count: number, model: string): Notice => ({
  code: 'history_left_out',
  text: `${model} was not sent the oldest part of this conversation, for which its context has no room: ${count} messages.`,
  params: { count, model },
});

export const imagesRefused = (model: string): Notice => ({
  code: 'images_refused',
  text: `The provider of ${model} refused a picture. The answer was made without it.`,
  params: { model },
});

export const contentRefused = (model: string, names: readonly string[]): Notice => ({
  code: 'content_refused',
  text: `The provider of ${model} refused parts of the request, which are not sent any more: ${names.join(', ')}.`,
  params: { model, names: names.join(', ') },
});

export const failure = ({ code, message, params }: TurnError): Notice => ({
  code,
  text: message,
  ...(params === undefined ? {} : { params }),
});
