export { createChatSocketHandler } from './chat-socket.ts';
export { createKeptIdentities } from './chat-tools.ts';
