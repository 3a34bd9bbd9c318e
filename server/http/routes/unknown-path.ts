import { HttpError } from '#lib/protocol/http-error';
import { errorAnswer } from '../error-answer.ts';
import type { Operation } from '../operation.ts';
import { parseTarget } from '../parse-target.ts';
import { compilePath } from '../path-pattern.ts';

/** Answers what no operation does. It asks for a credential like any other, and so reveals no path. */
export function unknownPathOperation(operations: readonly Operation[]): Operation {
  const known = operations.map(({ method, path }) => ({ method, match: compilePath(path) }));
  return {
    method: 'GET',
    path: '*',
    id: 'unknownPath',
    tag: 'system',
    summary: 'No such path',
    access: ['operator', 'agent', 'device'],
    answers: {},
    async run(_principal, _params, { incoming }) {
      const { pathname = '' } = parseTarget(incoming.url) ?? {};
      const methods = known.filter(({ match }) => match(pathname)).map(({ method }) => method);
      if (methods.length === 0) {
        throw new HttpError(
          'not_found',
          'There is no such path; GET /openapi.json lists them all.',
        );
      }
      const allowed = methods.join(', ');
      const refusal = new HttpError(
        'method_not_allowed',
        `This path does not take ${incoming.method}; it takes ${allowed}.`,
      );
      // RFC 9110, section 15.5.6: with this status the methods stand in a header as well.
      return { ...errorAnswer(refusal), headers: { allow: allowed } };
    },
  };
}
