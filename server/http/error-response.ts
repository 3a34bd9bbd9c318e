import type { OutgoingHttpHeaders } from 'node:http';
import { HttpError } from '#lib/protocol/http-error';
import { given } from '#lib/util/given';
import type { Logger } from '../base/logger.ts';
import { BlobDamagedError } from '../blobs/room.ts';
import {
  BadCursorError,
  BadSearchError,
  isDiskTrouble,
  RowDamagedError,
  StoreBusyError,
  StoreFailedError,
} from '../store/room.ts';
import type { HttpResponse } from './response.ts';

/** A query that keeps a reading thread busy is ended at its time limit. */
const BUSY_RETRY_SECONDS = 5;

/** The one way an error becomes a response (contract, section 9). */
export function errorResponse(error: HttpError): HttpResponse & { json: unknown } {
  const { code, message, details, params } = error;
  return {
    status: error.status,
    json: {
      error: { code, message, ...(details?.length ? { details } : {}), ...given({ params }) },
    },
    headers: headersFor(error),
  };
}

function headersFor(error: HttpError): OutgoingHttpHeaders {
  if (error.retryAfter !== undefined) return { 'retry-after': String(error.retryAfter) };
  return error.code === 'unauthenticated' ? { 'www-authenticate': 'Bearer' } : {};
}

/** An error as the refusal to send. An unexpected one is logged, and its response reveals nothing of it. */
export function toHttpError(error: unknown, logger: Logger): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof BadCursorError) {
    return new HttpError(
      'bad_request',
      'The cursor is not from this server: send next_cursor as it was received, or leave it out.',
    );
  }
  if (error instanceof BadSearchError) {
    const details = [{ path: 'q', problem: error.message }];
    return new HttpError('bad_request', `The query cannot be searched for: q: ${error.message}.`, {
      details,
    });
  }
  if (error instanceof StoreBusyError) {
    return new HttpError(
      'rate_limited',
      'The history was not read in time, so the request was ended. Ask for fewer or rarer words, add a filter, or try again later.',
      { retryAfter: BUSY_RETRY_SECONDS },
    );
  }
  logger.error(error);
  if (error instanceof RowDamagedError || error instanceof BlobDamagedError) {
    return new HttpError('store_damaged', DAMAGED);
  }
  if (error instanceof StoreFailedError) return new HttpError('store_failed', NO_WRITES);
  if (isDiskTrouble(error)) return new HttpError('store_failed', DISK_TROUBLE);
  return new HttpError('internal', UNEXPECTED);
}

const DAMAGED =
  'The stored data is damaged, so it is not shown. The log of the server names what is damaged and where.';
const NO_WRITES =
  'The server cannot write its record any more and accepts no calls until it is restarted.';
const DISK_TROUBLE =
  'The disk of the server does not accept writes at the moment. Try again later.';
const UNEXPECTED = 'The server failed in an unexpected way. Its log has the details; try again.';
