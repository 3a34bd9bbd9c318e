export { createOpenAiService } from './create-openai-service.ts';
export type { OpenAiAnswer, OpenAiService } from './openai-service.ts';
export { openAiConfigSchema } from './openai-service.ts';
