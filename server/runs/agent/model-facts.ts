import { z } from 'zod';
import { given } from '#lib/util/given';

/** What a server says that a model can do. What it does not say is not there. */
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
