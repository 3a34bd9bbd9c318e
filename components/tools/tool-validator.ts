import {
  type ErrorSchema,
  type RJSFSchema,
  type RJSFValidationError,
  toErrorSchema,
  type ValidatorType,
} from '@rjsf/utils';
import type { ErrorDetail } from '#lib/protocol/http-error';
import { type CompiledToolSchema, compileToolSchema } from '#lib/schema/compile-tool-schema';

export type FormData = Record<string, unknown>;

/**
 * Checks a form with the very check that the server makes. It compiles nothing
 * at run time (no `eval`), so the page's content security policy stays strict.
 */
export function createToolValidator(
  compiled: CompiledToolSchema,
): ValidatorType<FormData, RJSFSchema> {
  const problemsOf = (data: unknown): readonly ErrorDetail[] => {
    if (!compiled.ok) return [];
    const checked = compiled.check(data ?? {});
    return checked.ok ? [] : checked.details;
  };
  return {
    validateFormData: (data) => {
      const problems = problemsOf(data);
      return { errors: problems.map(toFormError), errorSchema: toErrorTree(problems) };
    },
    // Asked for parts of a schema only where one value has several readings;
    // such parts are edited as JSON, so this is about the rest.
    isValid: (schema, data) => isValidPart(schema, data),
    rawValidation: () => ({ errors: [] }),
  };
}

/** A part need not be an object, which a tool's whole schema must be: it is wrapped in one. */
function isValidPart(schema: RJSFSchema, data: unknown): boolean {
  const wrapped = compileToolSchema({
    type: 'object',
    properties: { value: schema },
    required: ['value'],
  });
  return wrapped.ok && wrapped.check({ value: data }).ok;
}

/** Problems by path, as the tree in which each field of a form finds its own. */
export const toErrorTree = (problems: readonly ErrorDetail[]): ErrorSchema<FormData> =>
  toErrorSchema<FormData>(problems.map(toFormError));

function toFormError({ path, problem }: ErrorDetail): RJSFValidationError {
  return { property: path, message: problem, stack: `${path} ${problem}`.trim() };
}
