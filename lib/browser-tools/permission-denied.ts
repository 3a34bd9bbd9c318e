import { ToolFailure } from '../client/client-tool.ts';

/** The person, or the browser for them, refused; with the way to allow it (BT4). */
export const permissionDenied = (what: string): ToolFailure =>
  new ToolFailure(
    'permission_denied',
    `${what} is not allowed at this device. The person can allow it in the browser's site settings (the icon left of the address), and then the call can be repeated.`,
  );

/** Whether a browser API threw because it was not allowed to. */
export const isNotAllowed = (error: unknown): boolean =>
  error instanceof DOMException &&
  (error.name === 'NotAllowedError' || error.name === 'SecurityError');
