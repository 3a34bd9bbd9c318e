import type { Logger } from '../logger.ts';
import type { InstanceMessage } from './event-bus.ts';

type Receive = (message: InstanceMessage) => void;

/** The sockets of this process by the address of their instance. */
export function createInboxes(logger: Logger) {
  const inboxes = new Map<string, { readonly receive: Receive }>();
  return {
    open(address: string, receive: Receive): () => void {
      const inbox = { receive };
      inboxes.set(address, inbox);
      return () => {
        // A later inbox of this address is not this one's to close.
        if (inboxes.get(address) === inbox) inboxes.delete(address);
      };
    },
    deliver(address: string, message: InstanceMessage): boolean {
      const inbox = inboxes.get(address);
      if (!inbox) return false;
      try {
        inbox.receive(message);
        return true;
      } catch (error) {
        logger.error(error);
        return false;
      }
    },
  };
}
