/**
 * Families that take pictures, by their ids. The APIs do not say, and a model
 * that takes none answers a picture with an error, so what is unknown gets a
 * description only.
 */
const FAMILIES = [
  /gpt-4o|gpt-4-turbo|gpt-4\.[1-9]|gpt-[5-9]|chatgpt|\bo1(?!-mini|-preview)\b|\bo3(?!-mini)\b|\bo4\b/,
  /vision|[-_.:/]vl\b|vl[-_:]|\dvl\b|llava|pixtral|minicpm-v|internvl|moondream/,
  /gemma-?3|gemini|claude|llama-?4|mistral-small3|magistral/,
];

export const takesImages = (modelId: string): boolean => {
  const id = modelId.toLowerCase();
  return FAMILIES.some((family) => family.test(id));
};
