import type { CallRecord } from '#lib/call/call-record';
import { estimateJsonBytes } from '#lib/json/measure-json';
import { type HttpResponse, json } from '../response.ts';
import type { RequestContext } from '../route.ts';
import { toWireCall } from '../to-wire-call.ts';

/** A record that is in memory; a large one waits for its turn before it becomes text. */
export async function recordAnswer(
  context: RequestContext,
  call: CallRecord,
): Promise<HttpResponse> {
  const { args, result, display, lateResult } = call;
  await context.makeRoom(estimateJsonBytes([args, result, display, lateResult]));
  return json(200, toWireCall(call));
}
