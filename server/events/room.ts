export {
  type EventBus,
  instanceAddress,
  type LoggedEvent,
  loggedEvent,
  numbered,
  type SnapshotText,
} from './event-bus.ts';
export { followRun, runIdOf } from './follow-run.ts';
export { openBus } from './memory-bus.ts';
