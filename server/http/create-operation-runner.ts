import type { IncomingMessage, ServerResponse } from 'node:http';
import { HttpError } from '#lib/protocol/http-error';
import type { Credentials } from '../auth/credentials.ts';
import type { Principal } from '../auth/principal.ts';
import { type Answer, writeAnswer } from './answer.ts';
import { errorAnswer, toHttpError } from './error-answer.ts';
import { type Exchange, NOBODY, type Operation } from './operation.ts';
import type { PathParams } from './path-pattern.ts';

export interface Arrival {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly search: string;
}

/** Runs an operation for a request that has passed the host gate, and answers it. Never rejects. */
export type RunOperation = (
  operation: Operation,
  arrival: Arrival,
  params: PathParams,
) => Promise<void>;

export function createOperationRunner(deps: {
  readonly credentials: Credentials;
  /** Of what nobody expected. */
  readonly report: (error: unknown) => void;
}): RunOperation {
  const answer = async (operation: Operation, exchange: Exchange, params: PathParams) => {
    const principal = await admit(deps.credentials, operation, exchange);
    return operation.run(principal, params, exchange);
  };

  return async (operation, arrival, params) => {
    let answered: Answer;
    try {
      answered = await answer(operation, toExchange(arrival), params);
    } catch (error) {
      answered = errorAnswer(toHttpError(error, deps.report));
    }
    try {
      writeAnswer(arrival.outgoing, answered);
    } catch (error) {
      // E.g. a record that JSON cannot carry: the caller still hears of it.
      writeAnswer(arrival.outgoing, errorAnswer(toHttpError(error, deps.report)));
    }
  };
}

/** Who asks, when they may. First the credential, so that nothing is revealed without one. */
async function admit(
  credentials: Credentials,
  operation: Operation,
  { incoming, address }: Exchange,
): Promise<Principal> {
  if (operation.access === 'open') return NOBODY;
  const { headers, method = '' } = incoming;
  const principal = await credentials.authenticate({ headers, method, address });
  if (principal instanceof HttpError) throw principal;
  if (operation.access.includes(principal.kind)) return principal;
  throw new HttpError(
    'permission_denied',
    `A token of the kind "${principal.kind}" may not do this; it takes one of: ${operation.access.join(', ')}.`,
  );
}

function toExchange({ incoming, outgoing, search }: Arrival): Exchange {
  let controller: AbortController | undefined;
  return {
    incoming,
    outgoing,
    search,
    address: incoming.socket.remoteAddress ?? 'unknown',
    signal() {
      if (!controller) {
        const made = new AbortController();
        controller = made;
        if (outgoing.destroyed) made.abort();
        else {
          outgoing.once('close', () => {
            // After a whole answer nobody waits any more; an abort would only cost its error object.
            if (!outgoing.writableFinished) made.abort();
          });
        }
      }
      return controller.signal;
    },
  };
}
