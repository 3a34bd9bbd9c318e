export { openPush, type PushService, pushConfigSchema } from './open-push.ts';
