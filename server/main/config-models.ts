import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseModelRef, REHEARSAL } from '#lib/protocol/model-ref';
import { TOOLS_PLACEHOLDER } from '#lib/protocol/tool-prompt';
import { ConfigError } from '../base/config-error.ts';
import type { ModelSettings } from '../runs/room.ts';

export const isModel = (ref: string): boolean =>
  ref !== REHEARSAL && parseModelRef(ref) !== undefined;

/** By reference. `file` is the configuration file. Throws `ConfigError`. */
export function readModels(
  models: Readonly<Record<string, ModelSettings>>,
  file: string,
): Readonly<Record<string, ModelSettings>> {
  const settings = Object.entries(models).map(([ref, model]): [string, ModelSettings] => {
    refuseStrictTools(file, ref, model);
    const { tool_prompt: path } = model;
    if (path === undefined) return [ref, model];
    return [ref, { ...model, tool_prompt: readToolPrompt(file, ref, path) }];
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
function refuseStrictTools(
  configFile: string,
  ref: string,
  { strict_tools: isStrict }: ModelSettings,
): void {
  const provider = parseModelRef(ref)?.provider;
  if (isStrict !== true || (provider !== 'anthropic' && provider !== 'google')) return;
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
