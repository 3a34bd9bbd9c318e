import { showControlCharacters } from '#lib/format/show-control-characters';
import type { Ask } from './device-store.ts';
import type { DeviceTexts } from './texts.ts';

const textOf = (texts: Readonly<Record<string, string>>, tool: string): string | undefined => {
  const key = tool.replaceAll('.', '_');
  return Object.hasOwn(texts, key) ? texts[key] : undefined;
};

/** A tool's name for people, in the page's language. */
export const toolName = ({ own }: DeviceTexts, tool: string): string =>
  textOf(own.names, tool) ?? showControlCharacters(tool);

/** What it asks the person for, where it asks by itself. */
export const toolQuestion = (
  { own }: DeviceTexts,
  { tool, variant }: Pick<Ask, 'tool' | 'variant'>,
): string | undefined => textOf(own.asks, variant ? `${tool}_${variant}` : tool);

/** The word on the button that allows it, where it asks by itself. */
export const toolDeed = ({ own }: DeviceTexts, tool: string): string | undefined =>
  textOf(own.does, tool);

/** What it does, for the person here; undefined for a tool that is none of ours. */
export const toolAbout = ({ about }: DeviceTexts, tool: string): string | undefined =>
  textOf(about, tool);
