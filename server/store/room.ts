export { takeDataDir } from './data-dir-lock.ts';
export { describeEnd, EXIT } from './integrity/describe-end.ts';
export { KeptArea } from './kept-area.ts';
export { openStore } from './open-store.ts';
export type * from './store.ts';
export {
  BadCursorError,
  BadSearchError,
  isDiskTrouble,
  RowDamagedError,
  StoreBusyError,
  StoreFailedError,
  VersionConflictError,
} from './store-errors.ts';
export { untilWritable } from './until-writable.ts';
