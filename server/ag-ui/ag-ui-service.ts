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

/** What the path `/ag-ui` needs: turns of the built-in agent for front ends that speak AG-UI 1.0. */
export interface AgUiService {
  /**
   * Starts the turn that is asked for, or finds the one that runs. Resolves to what sends its events
   * until it has ended, or the function that it returns is called; a turn goes on without its front
   * end. Throws `HttpError` with why not.
   */
  open(request: AgUiRequest): Promise<(sink: AgUiSink) => () => void>;
}
