import { sameJson } from '#lib/json/equal';
import {
  type PushSubscriptionBody,
  pushStateSchema,
  pushSubscriptionBodySchema,
  pushSubscriptionSchema,
  pushTestBodySchema,
  pushTestSchema,
  type WirePushSubscription,
} from '#lib/protocol/push';
import { okSchema } from '#lib/protocol/rest';
import type { Caller } from '../../auth/room.ts';
import type { Allowed } from '../../doors/room.ts';
import { CLIENTS, OPERATORS, VIEWERS } from '../../doors/room.ts';
import type { HttpDeps } from '../http-deps.ts';
import { OK } from '../response.ts';
import { type RequestContext, type Route, routesOf } from '../route.ts';
import { writeDown } from './access.ts';

/** For browsers of people, and for devices under the one path that is open to them (docs/push.md). */
export const pushRoutes = (deps: HttpDeps): Route[] => [
  ...routesAt(deps, { path: '/v1/push', suffix: '', reads: VIEWERS, changes: OPERATORS }),
  ...routesAt(deps, {
    path: '/internal/push',
    suffix: 'OfDevice',
    reads: CLIENTS,
    changes: CLIENTS,
  }),
];

interface Place {
  readonly path: '/v1/push' | '/internal/push';
  /** The ids of the routes end with it. */
  readonly suffix: string;
  readonly reads: Allowed;
  readonly changes: Allowed;
}

const route = routesOf('push notes');
/** An endpoint, its keys and what was chosen. */
const MOST_BODY_BYTES = 8 * 1024;

const routesAt = (deps: HttpDeps, { path, suffix, reads, changes }: Place): Route[] => [
  route('GET', path, {
    id: `readPush${suffix}`,
    summary: 'The key that browsers subscribe with, and the browsers of the caller',
    access: reads,
    answers: ['What there is', pushStateSchema],
    handle: ({ principal }) => deps.push.state(principal),
  }),
  route('POST', `${path}/subscriptions`, {
    id: `subscribePush${suffix}`,
    summary: 'Send notes to this browser; the same one again changes what it is sent',
    access: changes,
    body: pushSubscriptionBodySchema,
    maxBodyBytes: MOST_BODY_BYTES,
    answers: ['The subscription', pushSubscriptionSchema],
    handle: async (asked) => await subscribe(deps, asked, asked.body),
  }),
  route('DELETE', `${path}/subscriptions/:id`, {
    id: `unsubscribePush${suffix}`,
    summary: 'Send this browser nothing more',
    access: changes,
    answers: ['Removed', okSchema],
    async handle(asked) {
      const { id } = asked.params;
      await deps.push.unsubscribe(id, asked.principal);
      await writeDown(deps, asked, { act: 'push_unsubscribed', target: id });
      return OK;
    },
  }),
  route('POST', `${path}/test`, {
    id: `testPush${suffix}`,
    summary: 'Send a note to one of the own browsers now, and read what its push service answered',
    access: changes,
    body: pushTestBodySchema,
    maxBodyBytes: MOST_BODY_BYTES,
    answers: ['What became of it', pushTestSchema],
    handle: async ({ principal, body, context }) =>
      await deps.push.test(body.push_id, principal, context.signal()),
  }),
];

async function subscribe(
  { push, ...deps }: HttpDeps,
  asked: { principal: Caller; context: RequestContext },
  body: PushSubscriptionBody,
): Promise<WirePushSubscription> {
  const { principal: caller, context } = asked;
  const before = push.state(caller).subscriptions;
  const userAgent = context.incoming.headers['user-agent'];
  const made = await push.subscribe(body, { caller, userAgent });
  const { push_id: target, browser, kinds, details } = made;
  const known = before.find((one) => one.push_id === target);
  // A page confirms what it has at each start.
  if (known && sameJson([known.kinds, known.details], [kinds, details])) return made;
  const detail = { browser, kinds, details };
  await writeDown(deps, asked, { act: 'push_subscribed', target, detail });
  return made;
}
