export { type SendMessageDeps, sendMessage } from './claim-run.ts';
export { type MessageContent, readAsked, readContent } from './message-content.ts';
