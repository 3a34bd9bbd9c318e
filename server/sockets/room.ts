export {
  createFrameQueue,
  InboundBudget,
  type InboundSocket,
  SMALL_BYTES,
  watchInbound,
} from './inbound.ts';
export type { Line } from './line.ts';
export { closeSocket, createCork, EventStream } from './line.ts';
export { type Liveness, watchLiveness } from './liveness.ts';
export { OutboundBudget, type OutboundShare } from './outbound-budget.ts';
export { Outbox } from './outbox.ts';
