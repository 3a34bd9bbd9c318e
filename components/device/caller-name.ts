import { showControlCharacters } from '#lib/format/show-control-characters';
import { type DeviceTexts, fill } from './texts.ts';

/** A caller as the server names it: `operator`, `operator:<name>`, `agent:<name>`, `run:<id>`, `device:<id>`. */
export function callerName(caller: string | undefined, { ask }: DeviceTexts): string {
  const [kind, ...rest] = caller?.split(':') ?? [];
  const name = showControlCharacters(rest.join(':'));
  if (kind === 'run' || kind === 'agent' || kind === 'device') return fill(ask[kind], { name });
  if (kind === 'operator') return name || ask.operator;
  return ask.unknown;
}
