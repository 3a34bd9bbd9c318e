export { clawseedConfigSchema, createChatSocketHandler } from './chat-socket.ts';
