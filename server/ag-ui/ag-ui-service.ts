import type { RunAgentInput } from '#lib/protocol/ag-ui';
import type { Caller } from '../auth/room.ts';
import type { AgUiEvent } from './ag-ui-events.ts';

/** One POST, whose credential and body were checked. */
export interface AgUiRequest {
  readonly caller: Caller;
  readonly address: string;
  readonly input: RunAgentInput;
  /** Aborted when the front end leaves before it is answered. */
  readonly signal: AbortSignal;
}

/** Where the events of one request go. */
export interface AgUiSink {
  send(event: AgUiEvent): void;
  end(): void;
}
