export { createChatSocketHandler } from './chat-socket.ts';
export { createKeptIdentities } from './kept-identities.ts';
