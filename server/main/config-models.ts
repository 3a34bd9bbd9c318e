import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { closedObject } from '#lib/protocol/closed-object';
import { parseModelRef, REHEARSAL } from '#lib/protocol/model-ref';
import { runSettingsSchema } from '#lib/protocol/run';
import { TOOLS_PLACEHOLDER } from '#lib/protocol/tool-prompt';
import { given } from '#lib/util/given';
import { ConfigError } from '../base/config-error.ts';
import type { ModelSettings } from '../runs/room.ts';

export const isModel = (ref: string): boolean =>
  ref !== REHEARSAL && parseModelRef(ref) !== undefined;

/** What a model can do, where that is not what is assumed of it. */
export const modelSettings = closedObject({
  tool_calling: z.enum(['native', 'text']).optional(),
  /** A Markdown file in place of the description of the tools; for `text` only. */
  tool_prompt: z.string().optional(),
  images: z.boolean().optional(),
  /** `false`: it is asked for one call at a time. */
  parallel_calls: z.boolean().optional(),
  /** Tools that one request may hold. */
  max_tools: z.number().int().min(8).max(4_096).optional(),
  /** Tools are sent in the strict form of OpenAI's API, with `strict: true`. */
  strict_tools: z.boolean().optional(),
  /** Tokens of a request and its answer together: the oldest messages are left out by it. */
  context_tokens: z.number().int().min(4_096).max(100_000_000).optional(),
  /** Without a byte of its server for so long it is given up. */
  silence_seconds: z.number().int().min(1).max(86_400).optional(),
  /** For a whole answer. */
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

/** By reference. `file` is the configuration file. Throws `ConfigError`. */
export function readModels(
  models: Readonly<Record<string, z.infer<typeof modelSettings>>>,
  file: string,
): Readonly<Record<string, ModelSettings>> {
  const settings = Object.entries(models).map(([ref, model]) => {
    const { tool_calling: toolCalling, tool_prompt: path, images, ...rest } = model;
    const { parallel_calls: parallelCalls, context_tokens: contextTokens } = rest;
    const toolPrompt = path === undefined ? undefined : readToolPrompt(file, ref, path);
    const patience = { silenceSeconds: rest.silence_seconds, totalSeconds: rest.total_seconds };
    const limits = { parallelCalls, contextTokens, maxTools: rest.max_tools, ...patience };
    const strictTools = readStrictTools(file, ref, rest.strict_tools);
    const asked = given({
      instructions: rest.instructions,
      temperature: rest.temperature,
      reasoning_effort: rest.reasoning_effort,
    });
    return [ref, { toolCalling, toolPrompt, images, strictTools, asked, ...limits }];
  });
  return Object.fromEntries(settings);
}

/** Throws `ConfigError`, which names the setting. */
export function readText(setting: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError(
      `${setting} is ${JSON.stringify(file)}: it cannot be read (${String(error)})`,
    );
  }
}

/** Paths in the file are relative to its folder. */
export const besideFile = (file: string, path: string): string => resolve(dirname(file), path);

/** Of the providers' APIs OpenAI's alone, and those made after it, have that form. */
function readStrictTools(
  configFile: string,
  ref: string,
  isStrict: boolean | undefined,
): boolean | undefined {
  const provider = parseModelRef(ref)?.provider;
  if (isStrict !== true || (provider !== 'anthropic' && provider !== 'google')) return isStrict;
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
