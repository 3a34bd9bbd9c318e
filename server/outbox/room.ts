export type { AnnounceCall, Announcement, AnnounceRun } from './notice-drafts.ts';
export { notifyConfigSchema, readNotify } from './notify-config.ts';
export { openNotifications } from './open-notifications.ts';
export type { ListedTarget, NotifyService } from './outbox.ts';
export { type Answered, isRedirect, type PostRequest, postOnce } from './post-once.ts';
export type { Attempt, Outcome, Target, TargetSource } from './target.ts';
