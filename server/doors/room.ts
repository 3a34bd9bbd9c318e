import { DoorRuns, type DoorRunsDeps } from './claim-run.ts';
import { createTurnStreams, type TurnStreamDeps } from './turn-stream.ts';

export { type DoorOutcome, DoorRuns, NOT_OWN, sentTo, type Talk } from './claim-run.ts';
export { type MessageContent, readAsked, readContent } from './message-content.ts';
export {
  argumentsOf,
  BREAK,
  failureOf,
  isWritten,
  type OpenTurnStream,
  outputOf,
  type ShownCalls,
  type TurnEvent,
  type TurnStream,
  textOf,
} from './turn-stream.ts';

/** The doors share these. */
export const openWaysIn = (deps: DoorRunsDeps & TurnStreamDeps) => ({
  doorRuns: new DoorRuns(deps),
  openTurnStream: createTurnStreams(deps),
});
