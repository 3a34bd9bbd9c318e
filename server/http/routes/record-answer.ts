import type { Call } from '#lib/call/call';
import { estimateJsonBytes } from '#lib/json/measure-json';
import { type HttpResponse, json } from '../response.ts';
import type { RequestContext } from '../route.ts';
import { toWireCall } from '../to-wire-call.ts';

/** A large record that is in memory waits for its turn before it becomes text, as one that is read has. */
export async function recordAnswer(context: RequestContext, call: Call): Promise<HttpResponse> {
  if (!context.isLarge()) {
    const { args, result, display, lateResult } = call;
    await context.makeRoom(estimateJsonBytes([args, result, display, lateResult]));
  }
  return json(200, toWireCall(call));
}
