export {
  type EventBus,
  instanceAddress,
  type LoggedEvent,
  type SnapshotText,
} from './event-bus.ts';
export { type FollowedRun, followRun } from './follow-run.ts';
export { loggedEvent, numbered } from './logged-event.ts';
export { createMemoryBus } from './memory-bus.ts';
export { SEQ_BLOCK } from './seq-reservation.ts';
