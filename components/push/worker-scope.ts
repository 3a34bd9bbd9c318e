/** Events of a service worker; TypeScript's types of them cannot stand beside those of a page. */
interface ExtendableEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
}
interface FetchEvent extends ExtendableEvent {
  readonly request: Request;
  respondWith(answer: Promise<Response>): void;
}
interface PushEvent extends ExtendableEvent {
  readonly data: { text(): string } | null;
}
export interface ClickEvent extends ExtendableEvent {
  readonly notification: { readonly data?: unknown; close(): void };
}
export interface ChangeEvent extends ExtendableEvent {
  readonly oldSubscription?: PushSubscription | null;
  readonly newSubscription?: PushSubscription | null;
}
interface WorkerEvents {
  readonly install: ExtendableEvent;
  readonly activate: ExtendableEvent;
  readonly fetch: FetchEvent;
  readonly push: PushEvent;
  readonly notificationclick: ClickEvent;
  readonly pushsubscriptionchange: ChangeEvent;
}
interface PageWindow {
  readonly url: string;
  focus(): Promise<unknown>;
  postMessage(message: unknown): void;
}

/** What of a service worker's global scope is used. */
export interface WorkerScope {
  addEventListener<Type extends keyof WorkerEvents>(
    type: Type,
    listener: (event: WorkerEvents[Type]) => void,
  ): void;
  skipWaiting(): Promise<void>;
  readonly registration: Pick<ServiceWorkerRegistration, 'showNotification' | 'pushManager'>;
  readonly clients: {
    claim(): Promise<void>;
    matchAll(options: {
      type: 'window';
      includeUncontrolled: boolean;
    }): Promise<readonly PageWindow[]>;
    openWindow(url: string): Promise<unknown>;
  };
  readonly location: Pick<Location, 'origin'>;
}
