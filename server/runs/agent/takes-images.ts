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
