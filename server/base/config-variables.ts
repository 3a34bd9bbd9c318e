import { LEAST_SECRET_CHARS } from '#lib/text/redact';
import { ConfigError } from './config-error.ts';

/** Headers and variables with such names have values that are secret, also where they stand in a file. */
export const isSecretName = (name: string): boolean =>
  /auth|cookie|credential|key|pass|secret|token/i.test(name);

/** The value of a variable; undefined: not set, or empty. */
export type Given = (name: string) => string | undefined;

/** Reads texts of the configuration file, and collects what no record and no log may have of them. */
export class ConfigTexts {
  readonly #given: Given;
  readonly #secrets = new Set<string>();

  constructor(given: Given) {
    this.#given = given;
  }

  get secrets(): readonly string[] {
    return [...this.#secrets];
  }

  /** A shorter one would be taken out of texts that have nothing to do with it. */
  keepSecret(value: string): void {
    if (value.length >= LEAST_SECRET_CHARS) this.#secrets.add(value);
  }

  /** Puts the values of variables in the place of `${env:NAME}`. One that is not set is a `ConfigError`. */
  fill(place: string, text: string): string {
    return text.replace(/\$\{([^}]*)\}?/g, (whole, inside: string) => {
      const name = /^env:([A-Za-z_]\w*)$/.exec(inside)?.[1];
      const value = name === undefined ? undefined : this.#given(name);
      if (value === undefined) {
        const problem =
          name === undefined
            ? `has ${JSON.stringify(whole)}; a variable of the environment is written \${env:NAME}`
            : `names the variable ${name}, which is not set`;
        throw new ConfigError(`${place} ${problem}`);
      }
      this.keepSecret(value);
      return value;
    });
  }
}
