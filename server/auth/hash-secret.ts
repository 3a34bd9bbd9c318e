import { hash } from 'node:crypto';

/** SHA-256, hex. For random secrets only: it is fast, so a password would be guessed from it. */
export const hashSecret = (secret: string): string => hash('sha256', secret, 'hex');
