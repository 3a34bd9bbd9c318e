import type { AgUiInputMessage, RunAgentInput } from '#lib/protocol/ag-ui';
import { HttpError } from '#lib/protocol/http-error';
import { sendMessageBodySchema } from '#lib/protocol/rest';
import type { RunRecord } from '#lib/protocol/run';
import { stripInvisible } from '#lib/text/invisible';
import { type Caller, ownsRun, principalKey } from '../../auth/room.ts';
import type { Logger } from '../../base/logger.ts';
import {
  type DoorRequest,
  type DoorRuns,
  type DoorSink,
  type MessageContent,
  type OpenTurnStream,
  readAsked,
  sentTo,
  type TurnStream,
} from '../room.ts';
import { type AgUiEvent, TurnEvents } from './turn-events.ts';

/** Tools of the front end are not called. */
const TOOLS_REFUSED = 'callboard.tools_refused';

type AgUiRequest = DoorRequest<RunAgentInput>;

export interface AgUiServiceDeps {
  readonly doorRuns: DoorRuns;
  readonly openTurnStream: OpenTurnStream;
  readonly logger: Logger;
  readonly hide: (text: string) => string;
}

/** A message that is sent, or one that the run has already. */
interface Asked {
  readonly run: RunRecord;
  /** The turn is new, and nothing of it was shown before. */
  readonly isNew: boolean;
}

export type AgUiService = ReturnType<typeof createAgUiService>;

/** AG-UI 1.0 for the built-in agent (rules AG in SPEC.md). It keeps nothing between requests. */
export function createAgUiService(deps: AgUiServiceDeps) {
  return {
    /**
     * Starts the turn that is asked for, or finds the one that runs. Resolves to what sends its events
     * until it has ended, or the function that it returns is called; a turn goes on without its front
     * end. Throws `HttpError` with why not.
     */
    async open(request: AgUiRequest): Promise<(sink: DoorSink<AgUiEvent>) => () => void> {
      const { caller, body: input, signal } = request;
      if (input.resume && input.resume.length > 0) throw noInterrupts();
      const runId = await runOf(deps.doorRuns, caller, input.threadId);
      // Before the run is read: nothing that happens later is missed.
      const stream = deps.openTurnStream(runId, signal);
      try {
        const asked = await ask(deps, request, runId);
        return (sink) => {
          show(deps, request, { sink, stream, asked });
          return () => stream.close();
        };
      } catch (error) {
        stream.close();
        throw error;
      }
    },
  };
}

/** The run that the thread is. One that another has is not found, as one that is not there. */
async function runOf(runs: DoorRuns, caller: Caller, threadId: string): Promise<string> {
  if (await runs.findSeen(caller, threadId)) return threadId;
  if (!OUR_ID.test(threadId)) return runs.idOf('agui', principalKey(caller), threadId);
  throw new HttpError(
    'run_not_found',
    `There is no run ${JSON.stringify(threadId)}; GET /v1/runs lists them. Begin a conversation with a threadId of your own.`,
  );
}

/** A run that the server named, here or elsewhere. */
const OUR_ID = /^(?:run|agui)_/;

async function ask(
  { doorRuns, hide }: AgUiServiceDeps,
  { caller, address, body: input }: AgUiRequest,
  runId: string,
): Promise<Asked> {
  const before = await doorRuns.get(runId);
  // A program may give its run any id: also that of another's thread, had it come to know it.
  if (before && runId !== input.threadId && !ownsRun(caller, before)) throw notThere();
  const newest = input.messages.findLast(({ role }) => role === 'user');
  const known = before && (!newest || before.messages.some((one) => isSame(one, newest)));
  if (known) return { run: before, isNew: false };
  if (!newest) throw nothingAsked();
  if (hide(newest.id) !== newest.id) throw secretId();
  const content = readAsked(newest.content);
  const text = wordsOf(content);
  const message = { title: text, input: text, files: content.files, more: { givenId: newest.id } };
  const outcome = await doorRuns.send({ caller, address, runId }, before, message);
  return { run: sentTo(outcome, notThere), isNew: before?.status !== 'running' };
}

const bad = (message: string): HttpError => new HttpError('bad_request', message);

/** It is stored, and other front ends are shown it. */
const secretId = (): HttpError =>
  bad(
    'The id of the newest message holds what looks like a token or a key. Give the message another id.',
  );

const notThere = (): HttpError =>
  new HttpError('run_not_found', 'There is no such thread. Begin one with another threadId.');

const isSame = (one: RunRecord['messages'][number], { id }: AgUiInputMessage): boolean =>
  one.role === 'user' && (one.given_id === id || one.message_id === id);

/** Its words, as a run takes them: one that is refused leaves no run. */
function wordsOf({ text, files }: MessageContent): string {
  if (files.length > 0 && text === '') return text;
  const checked = sendMessageBodySchema.safeParse({ input: text });
  const { input = '' } = checked.data ?? {};
  if (files.length > 0 ? checked.success : stripInvisible(input).trim() !== '') return input;
  throw bad(
    'The newest message of role "user" must have a text or a file, the text of at most 262144 characters.',
  );
}

const nothingAsked = (): HttpError =>
  bad('This thread is new, and messages has none of role "user": send the one that begins it.');

const noInterrupts = (): HttpError =>
  bad(
    'resume answers interrupts, and this server sends none: a person decides approvals on the board, while the run stays open. Send the request without resume.',
  );

interface Showing {
  readonly sink: DoorSink<AgUiEvent>;
  readonly stream: TurnStream;
  readonly asked: Asked;
}

function show(
  { logger }: AgUiServiceDeps,
  { body: input, signal }: AgUiRequest,
  { sink, stream, asked: { run, isNew } }: Showing,
): void {
  const answered = run.messages.findLast(({ role }) => role === 'user');
  const turn = new TurnEvents({
    threadId: run.run_id,
    runId: answered?.message_id ?? run.run_id,
    givenId: answered?.given_id,
  });
  const end = () => {
    stream.close();
    sink.end();
  };
  const send = (some: readonly AgUiEvent[]) => {
    for (const one of some) {
      sink.send(one);
      if (one.type === 'RUN_FINISHED' || one.type === 'RUN_ERROR') end();
    }
  };
  const follow = () => stream.follow((event) => send(turn.take(event)));
  send([turn.start(), ...refusedTools(input)]);
  if (isNew) return follow();
  stream.catchUp(signal).then(
    (now) => {
      send(turn.begin(now.run, now.calls, stream));
      follow();
    },
    (error: unknown) => {
      if (!signal.aborted) logger.error(error);
      end();
    },
  );
}

function refusedTools({ tools }: RunAgentInput): AgUiEvent[] {
  const names = tools.map(({ name }) => name);
  const message =
    'The agent calls tools of clients that are connected to the server, and none of the front end: these are ignored.';
  if (names.length === 0) return [];
  return [{ type: 'CUSTOM', name: TOOLS_REFUSED, value: { names, message } }];
}
