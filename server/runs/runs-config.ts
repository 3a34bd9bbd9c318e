import { z } from 'zod';
import { MODEL_OUTPUT_BYTES } from '#lib/call/model-output';
import { closedObject } from '#lib/protocol/closed-object';
import { parseModelRef, REHEARSAL } from '#lib/protocol/model-ref';
import { runSettingsSchema } from '#lib/protocol/run';
import { TOOLS_PLACEHOLDER } from '#lib/protocol/tool-prompt';
import { ConfigError } from '../base/config-error.ts';
import { besideFile, readText } from '../base/config-file.ts';
import { type ModelSettings, modelSettingsSchema } from './agent/model-facts.ts';

const mostOfTurn = z.number().int().positive().nullable().default(null);

const budgetSchema = closedObject({
  seconds: mostOfTurn,
  calls: mostOfTurn,
  tokens: mostOfTurn,
}).default({ seconds: null, calls: null, tokens: null });

/** `agent` in the configuration file. */
const agentSchema = closedObject({
  /** The most that one turn may take: seconds since the person's message, calls, tokens. */
  budget: budgetSchema,
  /** Requests to the model in one turn with which it may call tools. */
  max_steps: z.number().int().min(1).max(100).default(10),
  /** How deep sub-agents may delegate: 1 is to none. */
  max_depth: z.number().int().min(1).max(4).default(2),
  /** Tools that are asked again and again on purpose; names as in `policy`. */
  polling: z.array(z.string()).default([]),
  /** Tools that are offered before others where a model takes fewer; names as in `policy`. */
  pinned_tools: z.array(z.string()).max(1_000).default([]),
  /** A model is sent so many bytes of one result; of a longer one it gets head and tail. */
  result_bytes: z
    .number()
    .int()
    .min(16 * 1024)
    .max(1024 * 1024)
    .default(MODEL_OUTPUT_BYTES),
  /** How models are asked, where neither run nor model says. */
  ...runSettingsSchema.shape,
});

const amount = z.number().nonnegative();

/** `cached_input`: of input that came from the provider's cache; without it as other input. */
const priceSchema = closedObject({
  input: amount,
  cached_input: amount.optional(),
  output: amount,
});

/** The prices of models, in one currency. Callboard has none of its own: they change, and differ by contract. */
const pricesSchema = closedObject({
  currency: z.string().regex(/^[A-Z]{3}$/, 'must be a code of three letters, such as USD'),
  /** For a million tokens, by model, e.g. `openai:gpt-5`; `*` stands for any characters. The first that fits counts. */
  models: z.record(z.string(), priceSchema),
});

const agentName = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9_-]{0,63}$/,
    'must have only a to z, 0 to 9, _ and -, at most 64 characters',
  );

/** A sub-agent that a model can give a task to. */
const subAgentSchema = closedObject({
  /** The model reads it when it chooses. */
  description: z.string().min(1).max(1_000),
  /** That of the run that delegates, where not given. */
  model: z
    .string()
    .refine(
      (ref) => parseModelRef(ref) !== undefined,
      'must be a model as the menu names it, such as openai:gpt-5 or compatible:qwen3:8b',
    )
    .optional(),
  /** Added to its instructions: the text, or a file of it. */
  prompt: z
    .union([z.string(), closedObject({ file: z.string() })], {
      error: 'it must be a text, or {"file": "prompt.md"}',
    })
    .default(''),
  /** Names as in `policy`; of these it has those that the run has that delegates. */
  tools: z.array(z.string()),
  budget: budgetSchema,
});

const isModel = (ref: string): boolean => ref !== REHEARSAL && parseModelRef(ref) !== undefined;

/** The parts of the configuration file that are the agent's. */
export const runsConfigShape = {
  agent: agentSchema.default(agentSchema.parse({})),
  /** Sub-agents, by name: what the tool `delegate` offers. */
  agents: z.record(agentName, subAgentSchema).default({}),
  prices: pricesSchema.optional(),
  models: z
    .record(z.string(), modelSettingsSchema)
    .superRefine((models, { addIssue }) => {
      const ref = Object.keys(models).find((one) => !isModel(one));
      if (ref === undefined) return;
      const message = 'must be a model as the menu names it, such as compatible:gemma3:4b';
      addIssue({ code: 'custom', path: [ref], message });
    })
    .default({}),
};

export type AgentSettings = z.infer<typeof agentSchema>;
export type Price = z.infer<typeof priceSchema>;
export type PriceTable = z.infer<typeof pricesSchema>;
/** A sub-agent, with the text of its prompt. */
export type SubAgentSettings = Omit<z.infer<typeof subAgentSchema>, 'prompt'> & {
  readonly prompt: string;
};

type ByKey<T> = Readonly<Record<string, T>>;

/** By name. `file` is the configuration file. Throws `ConfigError`. */
export function readAgents(
  agents: ByKey<z.infer<typeof subAgentSchema>>,
  file: string,
): ByKey<SubAgentSettings> {
  const settings = Object.entries(agents).map(([name, { prompt, ...agent }]) => {
    const where = `${file}: agents.${name}.prompt.file`;
    const text =
      typeof prompt === 'string' ? prompt : readText(where, besideFile(file, prompt.file));
    return [name, { ...agent, prompt: text.trim() }];
  });
  return Object.fromEntries(settings);
}

/** By reference. `file` is the configuration file. Throws `ConfigError`. */
export function readModels(models: ByKey<ModelSettings>, file: string): ByKey<ModelSettings> {
  const settings = Object.entries(models).map(([ref, model]) => {
    const { tool_prompt: path } = model;
    const prompt = path !== undefined && { tool_prompt: readToolPrompt(file, ref, path) };
    refuseStrictTools(file, ref, model);
    return [ref, { ...model, ...prompt }];
  });
  return Object.fromEntries(settings);
}

/** Only OpenAI's API has that form, and those made after it. */
function refuseStrictTools(configFile: string, ref: string, { strict_tools }: ModelSettings): void {
  const provider = parseModelRef(ref)?.provider;
  if (strict_tools !== true || (provider !== 'anthropic' && provider !== 'google')) return;
  throw new ConfigError(
    `${configFile}: models.${ref}.strict_tools is true: it may be so for the models of openai:, openai-chat: and compatible: alone`,
  );
}

function readToolPrompt(configFile: string, ref: string, path: string): string {
  const file = besideFile(configFile, path);
  const setting = `${configFile}: models.${ref}.tool_prompt`;
  const where = `${setting} is ${JSON.stringify(file)}`;
  const text = readText(setting, file);
  if (text.includes(TOOLS_PLACEHOLDER)) return text;
  throw new ConfigError(`${where}: it must hold ${TOOLS_PLACEHOLDER}, where the tools are put in`);
}
