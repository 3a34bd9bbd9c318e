import { z } from 'zod';

/** How a person answers a question: in words, with one of the choices, with any of them, with yes or no. */
export const QUESTION_INPUTS = ['text', 'choice', 'multiple', 'yes_no'] as const;

/** In characters, but for the number of choices: the whole stays below what a card shows in full. */
export const QUESTION_LIMITS = {
  text: 2_000,
  choices: 10,
  value: 100,
  label: 200,
  answer: 8_000,
} as const;

/** A question as people are shown it: the arguments of its call. */
export const questionSchema = z.object({
  question: z.string(),
  input: z.enum(QUESTION_INPUTS),
  /** `value` is what the answer has, `label` what people read. */
  choices: z.array(z.object({ value: z.string(), label: z.string() })),
});
export type Question = z.infer<typeof questionSchema>;

/** `text`, `choice`: a string; `multiple`: strings; `yes_no`: a boolean. */
export type Answer = string | string[] | boolean;

export type AnswerCheck =
  | { readonly ok: true; readonly answer: Answer }
  | { readonly ok: false; readonly problem: string };

/** Says whether `given` answers the question; `problem` says what would. */
export function checkAnswer({ input, choices }: Question, given: unknown): AnswerCheck {
  const values = choices.map(({ value }) => value);
  switch (input) {
    case 'yes_no':
      return typeof given === 'boolean' ? taken(given) : wrong('true or false');
    case 'choice':
      return typeof given === 'string' && values.includes(given)
        ? taken(given)
        : wrong(`one of ${JSON.stringify(values)}`);
    case 'multiple': {
      const several = z.array(z.enum(values)).min(1).safeParse(given);
      return several.success
        ? taken(values.filter((value) => several.data.includes(value)))
        : wrong(`a list of one or more of ${JSON.stringify(values)}`);
    }
    case 'text': {
      const text = typeof given === 'string' ? given.trim() : '';
      return text !== '' && text.length <= QUESTION_LIMITS.answer
        ? taken(text)
        : wrong(`a text of 1 to ${QUESTION_LIMITS.answer} characters`);
    }
  }
}

const taken = (answer: Answer): AnswerCheck => ({ ok: true, answer });
const wrong = (right: string): AnswerCheck => ({
  ok: false,
  problem: `The answer must be ${right}`,
});
