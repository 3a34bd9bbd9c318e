export {
  type EventBus,
  followRun,
  type LoggedEvent,
  runIdOf,
  type SnapshotText,
} from './event-bus.ts';
export { instanceAddress, loggedEvent, numbered, openBus } from './memory-bus.ts';
