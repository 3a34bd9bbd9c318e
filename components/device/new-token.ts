import { sha256Hex } from '#lib/util/sha256';

export { newDeviceToken } from '#lib/client/device-token';

/** What the server stores of it. */
export const hashOfToken = (token: string): string => sha256Hex(new TextEncoder().encode(token));
