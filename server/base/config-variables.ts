import { LEAST_SECRET_CHARS } from '#lib/text/redact';

/** Headers and variables with such names have values that are secret, also where they stand in a file. */
export const isSecretName = (name: string): boolean =>
  /auth|cookie|credential|key|pass|secret|token/i.test(name);

export type Filled =
  | {
      readonly ok: true;
      readonly text: string;
      /** The values of the variables, to be kept out of records and logs. */
      readonly secrets: readonly string[];
    }
  | { readonly ok: false; readonly problem: string };

/** The value of a variable; undefined: not set, or empty. */
export type Given = (name: string) => string | undefined;

/** Puts the values of variables in the place of `${env:NAME}`. One that is not set is a problem. */
export function fillVariables(text: string, given: Given): Filled {
  const secrets: string[] = [];
  let problem: string | undefined;
  const filled = text.replace(/\$\{([^}]*)\}?/g, (whole, inside: string) => {
    const name = /^env:([A-Za-z_]\w*)$/.exec(inside)?.[1];
    const value = name === undefined ? undefined : given(name);
    if (value === undefined) {
      problem ??=
        name === undefined
          ? `has ${JSON.stringify(whole)}; a variable of the environment is written \${env:NAME}`
          : `names the variable ${name}, which is not set`;
      return '';
    }
    if (value.length >= LEAST_SECRET_CHARS) secrets.push(value);
    return value;
  });
  return problem === undefined ? { ok: true, text: filled, secrets } : { ok: false, problem };
}
