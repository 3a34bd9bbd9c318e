export type { AgUiEvent } from './ag-ui-events.ts';
export { type AgUiService, createAgUiService } from './create-ag-ui-service.ts';
export { TurnEvents } from './turn-events.ts';
