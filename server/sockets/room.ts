export { EventStream } from './event-stream.ts';
export { InboundBudget, SMALL_BYTES } from './inbound-budget.ts';
export { type InboundSocket, watchInbound } from './inbound-socket.ts';
export { createFrameQueue } from './large-frames.ts';
export type { Line } from './line.ts';
export { closeSocket, createCork } from './line.ts';
export { type Liveness, watchLiveness } from './liveness.ts';
export { OutboundBudget, type OutboundShare } from './outbound-budget.ts';
export { Outbox } from './outbox.ts';
