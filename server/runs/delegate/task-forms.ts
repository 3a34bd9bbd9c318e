import { z } from 'zod';
import type { DelegatingTool } from '#lib/protocol/child-run';
import type { SubAgent } from './sub-agents.ts';

const LONGEST_TASK = 100_000;

export interface Task {
  readonly agent: string;
  readonly task: string;
}

/** How a model gives a task to a sub-agent, and in which form it gets the answer. */
export interface TaskForm {
  readonly displayName: string;
  readonly description: string;
  args(names: readonly string[]): z.ZodObject;
  /** Of arguments that fit. */
  read(args: Readonly<Record<string, unknown>>): Task;
  answer(text: string, childId: string): unknown;
}

const task = z
  .string()
  .min(1)
  .max(LONGEST_TASK)
  .describe('All that it has to know: it sees nothing of this conversation');
const agent = (names: readonly string[]) => z.enum(names).describe('Which sub-agent is to do it');
const delegated = z.object({ agent: z.string(), task });
const begun = z.object({ agentName: z.string(), input: task });

export const TASK_FORMS: Readonly<Record<DelegatingTool, TaskForm>> = {
  delegate: {
    displayName: 'Delegate',
    description:
      'Gives a task to a sub-agent, which works on it with tools of its own and answers once. Its last answer is the result. Several calls at once work side by side.',
    args: (names) => z.object({ agent: agent(names), task }),
    read: (args) => delegated.parse(args),
    answer: (text) => text,
  },
  new_task: {
    displayName: 'New task',
    description:
      'Begins a task of its own, which a sub-agent works on with tools of its own, and waits for its end. Returns {success, summary, subtaskId, error}; summary is its last answer. One that fails is a failed call.',
    args: (names) =>
      z.object({
        agentName: agent(names),
        taskName: z.string().min(1).max(200).describe('A few words, for people'),
        input: task,
      }),
    read: (args) => {
      const { agentName, input } = begun.parse(args);
      return { agent: agentName, task: input };
    },
    answer: (summary, subtaskId) => ({ success: true, summary, subtaskId, error: null }),
  },
};

export function schemaOf(form: TaskForm, names: readonly string[]): Record<string, unknown> {
  const { $schema: _, ...schema } = z.toJSONSchema(form.args(names), { io: 'input' });
  return schema;
}

export const describeTool = (form: TaskForm, agents: readonly SubAgent[]): string =>
  [form.description, ...agents.map(({ name, description }) => `- ${name}: ${description}`)].join(
    '\n',
  );
