export type { AnnounceCall, Announcement, AnnounceRun } from './notice-drafts.ts';
export { notifyConfigSchema, readNotify } from './notify-config.ts';
export { openNotifications } from './open-notifications.ts';
export type { ListedTarget, NotifyService } from './outbox.ts';
export { openPush, type PushService, pushConfigSchema } from './push/open-push.ts';
