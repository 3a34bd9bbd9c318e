import { ConfigError } from '../base/config-error.ts';
import { LOG_FORMATS, LOG_LEVELS, type LogSettings } from '../base/logger.ts';

/** `CALLBOARD_LOG_LEVEL` and `CALLBOARD_LOG_FORMAT`. Throws `ConfigError`. */
export const readLog = (given: (name: string) => string | undefined): LogSettings => ({
  level: oneOf(LOG_LEVELS, 'CALLBOARD_LOG_LEVEL', given) ?? 'info',
  format: oneOf(LOG_FORMATS, 'CALLBOARD_LOG_FORMAT', given) ?? 'text',
});

function oneOf<const Value extends string>(
  values: readonly Value[],
  name: string,
  given: (name: string) => string | undefined,
): Value | undefined {
  const text = given(name);
  const value = values.find((one) => one === text?.toLowerCase());
  if (text === undefined || value !== undefined) return value;
  throw new ConfigError(
    `${name} is ${JSON.stringify(text)}: it must be one of ${values.join(', ')}`,
  );
}
