import { z } from 'zod';
import { COMPLETION_TOOL } from '#lib/protocol/completion';
import { CLOCKS } from '#lib/protocol/limits';
import { QUESTION_INPUTS, QUESTION_LIMITS, type Question } from '#lib/protocol/question';
import { stripInvisible } from '#lib/text/invisible';
import { defineTool, refusal } from '../define-tool.ts';

const { text, choices: most, value, label } = QUESTION_LIMITS;

const argsSchema = z.object({
  question: z.string().min(1).max(text).describe('What the person reads; say all that they need'),
  choices: z
    .array(
      z.object({
        label: z.string().min(1).max(label).describe('What the person reads'),
        value: z
          .string()
          .min(1)
          .max(value)
          .optional()
          .describe('What the answer has in its place; the label when not given'),
      }),
    )
    .max(most)
    .optional()
    .describe('What the person chooses from'),
  input: z
    .enum(QUESTION_INPUTS)
    .optional()
    .describe('"choice" (one of choices, the default with them), "multiple", "yes_no", "text"'),
});

/** `ask_human`: a question of a model, which a person answers on its card in place of a tool. */
export const createAskHuman = () =>
  defineTool({
    name: 'ask_human',
    displayName: 'Ask a person',
    description:
      'Asks a person and waits, up to 10 minutes, for the answer. Returns {answer, answered_by: "person"}: answer is a text, a value of choices, a list of them, or true or false. The person may decline and say why. Ask only what you cannot find out yourself; few questions may be asked.',
    args: argsSchema,
    effect: 'read',
    timeoutMs: CLOCKS.approvalMs,
    question: toQuestion,
  });

/** Without what a person cannot see. Throws `ToolError` where no answer is possible. */
function toQuestion(args: z.output<typeof argsSchema>): Question {
  const choices = (args.choices ?? []).map((choice) => {
    const words = visible(choice.label);
    return {
      value:
        choice.value === undefined ? words.slice(0, value).toWellFormed() : visible(choice.value),
      label: words,
    };
  });
  const input = args.input ?? (choices.length > 0 ? 'choice' : 'text');
  const hasChoices = input === 'choice' || input === 'multiple';
  if (hasChoices && choices.length === 0) throw notAsked(`${input} needs choices`);
  if (!hasChoices && choices.length > 0) throw notAsked(`${input} has no choices`);
  if (new Set(choices.map((one) => one.value)).size < choices.length) {
    throw notAsked('each choice must have a value of its own');
  }
  const question = visible(args.question);
  if ([question, ...choices.flatMap((one) => [one.value, one.label])].includes('')) {
    throw notAsked('a text holds nothing that a person can see');
  }
  return { question, input, choices };
}

const visible = (given: string): string => stripInvisible(given).trim();

const notAsked = (why: string) => refusal(`The question was not asked: ${why}.`);

const TIMEOUT_MS = 5_000;
const LONGEST_RESULT = 100_000;

/** `attempt_completion`: the model ends its turn with a result, in place of an answer without a call. */
export const createAttemptCompletion = () =>
  defineTool({
    name: COMPLETION_TOOL,
    displayName: 'Complete the task',
    description:
      'Ends the task with its result, which the user reads. Call it alone, once the results of all other calls are there; beside other calls it is refused. Nothing is asked of you after it.',
    args: z.object({
      result: z
        .string()
        .min(1)
        .max(LONGEST_RESULT)
        .describe('The whole result for the user, in Markdown; no question'),
    }),
    effect: 'read',
    endsTurn: true,
    timeoutMs: TIMEOUT_MS,
    onPartial: (_args, { status }) => status({ tip: 'Writing the result' }),
    run: async ({ result }) => ({ output: 'The task is completed.', display: result }),
  });
