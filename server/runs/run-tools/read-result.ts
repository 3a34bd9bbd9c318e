import { z } from 'zod';
import type { Call } from '#lib/call/call';
import { isMarkedResult, wholeTextOf } from '#lib/call/model-output';
import { cutToBytes } from '#lib/json/cut-to-bytes';
import type { Attachment } from '#lib/protocol/attachment';
import { READ_RESULT } from '#lib/protocol/run-tools';
import { stripInvisible } from '#lib/text/invisible';
import { markUntrusted } from '#lib/text/untrusted';
import type { CallService } from '../../calls/room.ts';
import { defineTool, refusal, type ToolContext } from '../../tools/room.ts';

export interface ReadResultDeps {
  readonly calls: Pick<CallService, 'get'>;
  /** The text of a file, without what is secret; undefined where it is not there any more. */
  fileText(file: Attachment): Promise<string | undefined>;
  /** A model is sent so much of a result: a page is never cut again. */
  readonly resultBytes: number;
}

type Reader = Pick<ToolContext, 'callId' | 'runId' | 'ownerToken'>;

const TIMEOUT_MS = 10_000;
/** For what stands around a page, and arguments that a person edited. */
const FRAME_BYTES = 4 * 1024;
const MOST_FOUND = 20;
/** On each side of a place that was found. */
const AROUND_CHARS = 120;
/** More are not there: sub-agents are at most so deep. */
const MOST_PARENTS = 8;

/** `result.read`: pages through a result that a model was not sent whole (rules RT1 to RT4). */
export const createReadResult = (deps: ReadResultDeps) =>
  defineTool({
    name: READ_RESULT,
    displayName: 'Read a result',
    description:
      'Reads a result of this conversation that was too long to be shown whole, by the handle that stands behind it: a part of it from an offset on, or with "search" the places where a text stands. Offsets and lengths are in characters.',
    args: z.object({
      handle: z.string().min(1).max(200).describe('As it stands behind the result'),
      offset: z.number().int().min(0).optional().describe('Where to begin; default 0'),
      length: z.number().int().min(1).optional().describe('Default: as much as there is room for'),
      search: z
        .string()
        .min(1)
        .max(200)
        .optional()
        .describe('Finds this text from the offset on, upper and lower case alike'),
    }),
    effect: 'read',
    timeoutMs: TIMEOUT_MS,
    concurrency: 2,
    async run({ handle, offset = 0, length, search }, context) {
      const [, callId = handle, file] = OF_FILE.exec(handle) ?? [];
      const record = await findResult(deps.calls, callId, context);
      const whole =
        record && (file ? await textOfFile(deps, record, Number(file)) : wholeTextOf(record));
      if (!record || whole === undefined) {
        throw refusal(`There is no result ${JSON.stringify(handle)} of this conversation.`);
      }
      context.status({ tip: `Reading ${record.toolName}` });
      if (offset >= whole.length && whole.length > 0) {
        const { length: all } = whole;
        throw refusal(`The result has ${all} characters; there is nothing at offset ${offset}.`);
      }
      const room = deps.resultBytes - FRAME_BYTES;
      const { head, text } =
        search === undefined
          ? pageOf(whole, { offset, room }, length)
          : placesOf(whole, { offset, room }, search);
      // A client's result stays marked, on whatever way it comes.
      const isMarked = isMarkedResult(record);
      return { output: `${head}\n${isMarked ? markUntrusted(text) : text}` };
    },
  });

/** A file of a result, by its place: `tc_…/2`. */
const OF_FILE = /^(.+)\/([1-9])$/;

async function textOfFile(
  { fileText }: ReadResultDeps,
  { attachments }: Call,
  place: number,
): Promise<string | undefined> {
  const file = attachments[place - 1];
  const text = file?.text === undefined ? undefined : await fileText(file);
  return text === undefined ? undefined : stripInvisible(text);
}

/**
 * The call whose result the reader may have: of its own run, of one that it works for, or of a
 * sub-agent's that works for it, and of the same owner. For all others there is none (RT2).
 */
async function findResult(
  calls: Pick<CallService, 'get'>,
  handle: string,
  reader: Reader,
): Promise<Call | undefined> {
  const record = await calls.get(handle);
  if (!record || record.ownerToken !== reader.ownerToken) return undefined;
  if (record.runId === reader.runId) return record;
  const own = await calls.get(reader.callId);
  const isAbove = (await runsAbove(calls, own)).has(record.runId);
  return isAbove || (await runsAbove(calls, record)).has(reader.runId) ? record : undefined;
}

/** The runs for which the run of the call works. */
async function runsAbove(
  calls: Pick<CallService, 'get'>,
  call: Call | undefined,
): Promise<ReadonlySet<string>> {
  const runs = new Set<string>();
  let below = call;
  for (let steps = 0; below?.parentCallId && steps < MOST_PARENTS; steps += 1) {
    below = await calls.get(below.parentCallId);
    if (below) runs.add(below.runId);
  }
  return runs;
}

interface Part {
  readonly head: string;
  readonly text: string;
}

/** Where to begin, and for how many bytes of UTF-8 there is room. */
interface From {
  readonly offset: number;
  readonly room: number;
}

function pageOf(whole: string, { offset, room }: From, length = whole.length): Part {
  const start = afterHalf(whole, offset);
  // A character has a byte at least, so no more of the text can have room.
  const most = Math.max(Math.min(length, room), 1);
  const wanted = whole.slice(start, afterHalf(whole, start + most));
  const text = cutToBytes(wanted, room);
  const end = start + text.length;
  const rest = end < whole.length ? `; the next part begins at offset ${end}` : '; this is the end';
  return { head: `[Characters ${start} to ${end} of ${whole.length}${rest}]`, text };
}

/** No character is split: the second half of a pair belongs to what is before it. */
const afterHalf = (text: string, at: number): number =>
  /[\uDC00-\uDFFF]/.test(text.charAt(at)) && /[\uD800-\uDBFF]/.test(text.charAt(at - 1))
    ? at + 1
    : at;

function placesOf(whole: string, { offset, room }: From, search: string): Part {
  const pattern = new RegExp(search.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'), 'giv');
  pattern.lastIndex = offset;
  const shown: string[] = [];
  let left = room;
  for (let match = pattern.exec(whole); match; match = pattern.exec(whole)) {
    const [found] = match;
    const line = lineOf(whole, match.index, found.length);
    left -= Buffer.byteLength(line) + 1;
    if (shown.length === MOST_FOUND || left < 0) {
      const head = `[The first ${shown.length} places with ${JSON.stringify(search)}; search on from offset ${match.index}]`;
      return { head, text: shown.join('\n') };
    }
    shown.push(line);
  }
  const from = offset === 0 ? '' : ` from offset ${offset} on`;
  const head = `[${shown.length === 0 ? 'No place' : `All ${shown.length} places`} with ${JSON.stringify(search)}${from}]`;
  return { head, text: shown.join('\n') };
}

function lineOf(whole: string, at: number, length: number): string {
  const start = afterHalf(whole, Math.max(0, at - AROUND_CHARS));
  const end = afterHalf(whole, Math.min(whole.length, at + length + AROUND_CHARS));
  return `offset ${at}: ${whole.slice(start, end).replaceAll(/\s+/g, ' ')}`;
}
