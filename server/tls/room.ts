export { isLoopbackHost, type Network, openDoor } from './open-door.ts';
