import { z } from 'zod';
import { closedObject } from '#lib/protocol/closed-object';
import { runSettingsSchema } from '#lib/protocol/run';
import { given } from '#lib/util/given';

/** The configuration says this of a model, where that is not what is assumed of it. */
export const modelSettingsSchema = closedObject({
  /**
   * `text`: the tools are described in the prompt, and calls are read from the answer. Without it,
   * `native` unless its server says that it takes no tools.
   */
  tool_calling: z.enum(['native', 'text']).optional(),
  /** A Markdown file, and its text once that was read, in place of the description of the tools; for `text` only. */
  tool_prompt: z.string().optional(),
  /** It takes pictures; else as its server says, or its provider publishes. */
  images: z.boolean().optional(),
  /** `false`: it is asked for one call at a time. */
  parallel_calls: z.boolean().optional(),
  /** Tools that one request may hold. */
  max_tools: z.number().int().min(8).max(4_096).optional(),
  /** Tools are sent in the strict form of OpenAI's API, with `strict: true`. */
  strict_tools: z.boolean().optional(),
  /** Tokens of a request and its answer together: the oldest messages are left out by it. */
  context_tokens: z.number().int().min(4_096).max(100_000_000).optional(),
  /** Without a byte of its server for so long it is given up; else ten minutes behind `OPENAI_BASE_URL`, two elsewhere. */
  silence_seconds: z.number().int().min(1).max(86_400).optional(),
  /** For a whole answer; else half an hour. */
  total_seconds: z.number().int().min(1).max(86_400).optional(),
  /** How it is asked, where the run does not say; its instructions are added to those of the agent. */
  ...runSettingsSchema.shape,
})
  .refine(
    (model) => model.tool_prompt === undefined || model.tool_calling === 'text',
    'its tool_prompt is for "tool_calling": "text" alone',
  )
  .refine(
    (model) => model.strict_tools !== true || model.tool_calling !== 'text',
    'its strict_tools is for tools that are sent, and "tool_calling": "text" sends none',
  );

export type ModelSettings = z.output<typeof modelSettingsSchema>;

/** A server says that a model can do this. A field that it does not mention is not there. */
export interface ModelFacts {
  readonly images?: boolean;
  readonly tools?: boolean;
  /** Tokens that a request and its answer may have together. */
  readonly contextTokens?: number;
}

/** A field of a form that nobody documents is as one that is not there. */
const loose = <T extends z.ZodType>(schema: T) => schema.optional().catch(undefined);
const words = loose(z.array(z.string().max(64)).max(64));
const tokens = loose(z.number().int().min(1).max(1_000_000_000));

/**
 * An entry of `GET /models`, by the fields of the servers that have more than ids: vLLM
 * (`max_model_len`), OpenRouter (`context_length`, `architecture`, `supported_parameters`), Groq
 * (`context_window`), Mistral (`max_context_length`, `capabilities` as an object) and llama.cpp
 * (`meta.n_ctx`). `capabilities` as a list is Ollama's, as its `POST /api/show` has it.
 */
const entrySchema = z.object({
  max_model_len: tokens,
  context_length: tokens,
  context_window: tokens,
  max_context_length: tokens,
  meta: loose(z.object({ n_ctx: tokens })),
  architecture: loose(z.object({ input_modalities: words })),
  supported_parameters: words,
  capabilities: loose(
    z.union([
      z.array(z.string().max(64)).max(64),
      z.object({ vision: loose(z.boolean()), function_calling: loose(z.boolean()) }),
    ]),
  ),
});

export function factsOf(entry: unknown): ModelFacts {
  const parsed = entrySchema.safeParse(entry);
  if (!parsed.success) return {};
  const {
    capabilities,
    architecture,
    supported_parameters: parameters,
    meta,
    ...sizes
  } = parsed.data;
  const listed = Array.isArray(capabilities) ? capabilities : undefined;
  const named = Array.isArray(capabilities) ? undefined : capabilities;
  return given({
    images:
      named?.vision ??
      listed?.includes('vision') ??
      architecture?.input_modalities?.includes('image'),
    tools: named?.function_calling ?? listed?.includes('tools') ?? parameters?.includes('tools'),
    contextTokens:
      sizes.max_model_len ??
      sizes.context_length ??
      sizes.context_window ??
      sizes.max_context_length ??
      meta?.n_ctx,
  });
}

/**
 * Families of OpenAI, Anthropic and Google that take pictures, as their lists of models publish
 * it. Their APIs do not say, and a model that takes none answers a picture with an error, so what
 * is unknown gets a description only.
 */
const FAMILIES = [
  /gpt-4o|gpt-4-turbo|gpt-4\.[1-9]|gpt-[5-9]|chatgpt|\bo1(?!-mini|-preview)\b|\bo3(?!-mini)\b|\bo4\b/,
  /gemma-?3|gemini|claude/,
];

export const takesImages = (modelId: string): boolean => {
  const id = modelId.toLowerCase();
  return FAMILIES.some((family) => family.test(id));
};
