import type { WireTargets } from '#lib/protocol/notify';
import type { DeliveryQuery, DeliveryRecord } from '../store/room.ts';
import type { LaneState } from './lane.ts';
import type { Target } from './target.ts';

export interface ListedTarget extends LaneState, Pick<Target, 'id'> {
  readonly shown: NonNullable<Target['shown']>;
}

/** What people see of notices that leave the server, and do to them. */
export interface NotifyService {
  readonly limits: WireTargets['limits'];
  targets(): ListedTarget[];
  /** Newest first. */
  deliveries(query: DeliveryQuery): Promise<{ deliveries: DeliveryRecord[]; next: string | null }>;
  /** As a new one, with the same id of the notice; one that is open is tried now. Undefined: there is none. */
  resend(id: string): Promise<DeliveryRecord | undefined>;
  /** Sends a notice that says that it is a test. Undefined: there is no such target. */
  test(targetId: string): Promise<DeliveryRecord | undefined>;
  /** False: there is no such target. */
  enable(targetId: string): Promise<boolean>;
}
