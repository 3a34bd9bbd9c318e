import { DoorRuns, type DoorRunsDeps } from './claim-run.ts';
import { createTurnStreams, type TurnStreamDeps } from './turn-stream.ts';

export {
  ADMINS,
  AGENTS,
  type Allowed,
  allowedText,
  CLIENTS,
  cancelCall,
  EVERYONE,
  OPERATORS,
  PROGRAMS,
  READERS,
  refuseCaller,
  type SeenBlobs,
  seenBlob,
  seenCall,
  seenRun,
  UPLOADERS,
  VIEWERS,
} from './access.ts';
export { type DoorOutcome, DoorRuns, NOT_OWN, sentTo, type Talk } from './claim-run.ts';
export { type MessageContent, readAsked, readContent } from './message-content.ts';
export {
  argumentsOf,
  BREAK,
  type DoorRequest,
  type DoorSink,
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
