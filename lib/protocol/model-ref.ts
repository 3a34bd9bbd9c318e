export const REHEARSAL = 'rehearsal';

/** The first model of `OPENAI_BASE_URL`, whichever that is: its default while it has not answered. */
export const FIRST_OF_ENDPOINT = 'compatible';

const PROVIDERS = ['openai', 'openai-chat', 'compatible', 'anthropic', 'google'] as const;

export type ModelProvider = (typeof PROVIDERS)[number] | typeof REHEARSAL;

/** The variable with the key of each provider. */
const KEY_NAMES: Record<(typeof PROVIDERS)[number], string> = {
  openai: 'OPENAI_API_KEY',
  'openai-chat': 'OPENAI_API_KEY',
  compatible: 'OPENAI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
  google: 'GOOGLE_GENERATIVE_AI_API_KEY',
};

/** It is that of the provider that a reference names; OpenAI's where it names none. */
export function keyNameOf(ref: string): string {
  const provider = parseModelRef(ref)?.provider;
  return KEY_NAMES[provider === undefined || provider === REHEARSAL ? 'openai' : provider];
}

/** A model as records name it: `<provider>:<id>`, or `rehearsal`. */
export interface ModelRef {
  readonly provider: ModelProvider;
  readonly id: string;
  readonly text: string;
}

/** Printable ASCII without blanks; ids of other servers hold colons and slashes, and may be paths of files. */
const ID = /^[\x21-\x7e]{1,256}$/;

/** Undefined when it is not one. An id may hold colons itself, e.g. `compatible:qwen3:8b`. */
export function parseModelRef(text: string): ModelRef | undefined {
  if (text === REHEARSAL) return { provider: REHEARSAL, id: REHEARSAL, text };
  const colon = text.indexOf(':');
  const id = text.slice(colon + 1);
  const provider = PROVIDERS.find((one) => one === text.slice(0, Math.max(colon, 0)));
  return provider && ID.test(id) ? { provider, id, text } : undefined;
}

/**
 * Why a text cannot name the default model. An id without a prefix belongs to the provider that is
 * set up; with a colon it could be a misspelt provider, unless a server such as Ollama is named.
 */
export function defaultModelProblem(text: string, hasBaseUrl: boolean): string | undefined {
  if (parseModelRef(text) || text === FIRST_OF_ENDPOINT) return undefined;
  if (ID.test(text) && (hasBaseUrl || !text.includes(':'))) return undefined;
  return `it must be rehearsal, the id of a model, or <provider>:<id>, where the provider is one of ${PROVIDERS.join(', ')}; a name such as qwen3:8b is compatible:qwen3:8b, and needs OPENAI_BASE_URL`;
}
