export {
  type EventBus,
  followRun,
  instanceAddress,
  type LoggedEvent,
  loggedEvent,
  numbered,
  runIdOf,
  type SnapshotText,
} from './event-bus.ts';
export { openBus } from './memory-bus.ts';
