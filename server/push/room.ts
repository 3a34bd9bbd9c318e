export { openPush } from './open-push.ts';
export { pushConfigSchema } from './push-config.ts';
export type { PushService } from './push-service.ts';
