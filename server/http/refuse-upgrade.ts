import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { HttpError } from '#lib/protocol/http-error';
import { errorResponse } from './error-response.ts';

/** Answers an upgrade with a plain HTTP error, before any socket is one, and hangs up. */
export function refuseUpgrade(socket: Duplex, error: HttpError): void {
  const { status, json, headers } = errorResponse(error);
  const body = JSON.stringify(json);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Connection: close',
    'Content-Type: application/json',
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}`),
  ];
  if (!socket.writable) return void socket.destroy();
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}
