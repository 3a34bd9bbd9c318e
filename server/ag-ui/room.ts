export type { AgUiEvent } from './ag-ui-events.ts';
export { type AgUiService, createAgUiService } from './create-ag-ui-service.ts';
export { type MessageContent, readAsked, readContent } from './message-content.ts';
export { type SendMessageDeps, sendMessage } from './send-message.ts';
export { TurnEvents } from './turn-events.ts';
