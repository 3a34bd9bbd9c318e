import { randomBytes } from 'node:crypto';

/** 256 random bits, in letters that headers and addresses carry as they are. */
export const newSecret = (): string => randomBytes(32).toString('base64url');
