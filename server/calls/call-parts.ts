import type { Approvals, CallersOfCalls } from '../approvals/room.ts';
import type { SteadyClock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { BlobStore } from '../blobs/room.ts';
import type { Withholding } from '../secrets/room.ts';
import type { Store } from '../store/room.ts';
import type { ToolRegistry } from '../tools/room.ts';
import type { Breaker } from './breaker.ts';
import type { CallExecutors } from './call-executor.ts';
import type { CallIndex } from './call-index.ts';
import type { CallRepository } from './call-repository.ts';
import type { ClaimRun } from './call-service.ts';
import type { CallEngine } from './engine.ts';
import type { ResultFilter } from './result-filter.ts';
import type { InstanceFacts, Router } from './router.ts';

/** What those who say something of calls go by, as `createCalls` puts it together. */
export interface CallParts {
  readonly store: Store;
  readonly registry: ToolRegistry;
  readonly clock: SteadyClock;
  readonly logger: Logger;
  readonly callers: CallersOfCalls;
  /** For the files of the server's own tools. */
  readonly blobs: Pick<BlobStore, 'put'>;
  readonly isTracing: boolean;
  readonly engine: CallEngine;
  readonly repository: CallRepository;
  readonly index: CallIndex;
  readonly router: Router;
  readonly breaker: Breaker;
  readonly executors: CallExecutors;
  readonly approvals: Approvals;
  readonly withholding: Withholding;
  /** Without it results are taken as they are. */
  readonly results?: ResultFilter;
  readonly claimRun: ClaimRun;
  readonly isStopped: boolean;
  newCallId(): string;
  facts(instanceId: string): InstanceFacts | undefined;
}
