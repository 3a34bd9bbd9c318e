import { HttpError } from '#lib/protocol/http-error';
import type { NoticeData } from '#lib/protocol/notice';
import {
  deliveriesPageSchema,
  deliveriesQuerySchema,
  targetsSchema,
  type WireDelivery,
  type WireTarget,
  wireDeliverySchema,
  wireTargetSchema,
} from '#lib/protocol/notify';
import { given } from '#lib/util/given';
import { OPERATORS, VIEWERS } from '../../doors/room.ts';
import type { ListedTarget } from '../../notices/room.ts';
import type { DeliveryRecord } from '../../store/room.ts';
import type { HttpDeps } from '../http-deps.ts';
import { toSeconds } from '../response.ts';
import { type Route, routesOf } from '../route.ts';
import { quoted, writeDown } from './access.ts';

const path = '/v1/notify';
const route = routesOf('access');

/** Routes on what is sent to programs and devices outside (docs/webhooks.md). */
export const notifyRoutes = ({ notify, ...deps }: HttpDeps): Route[] => [
  route('GET', `${path}/targets`, {
    id: 'listNotifyTargets',
    summary: 'Where notifications are sent: webhooks, Slack, ntfy, and how each of them does',
    access: VIEWERS,
    answers: ['The targets', targetsSchema],
    handle: () => ({
      targets: notify.targets().map(toWireTarget),
      limits: notify.limits,
    }),
  }),
  route('GET', `${path}/deliveries`, {
    id: 'listDeliveries',
    summary: 'Notifications that were sent, or wait to be, newest first',
    access: VIEWERS,
    query: deliveriesQuerySchema,
    answers: ['A page of deliveries', deliveriesPageSchema],
    async handle({ query: { cursor, limit } }) {
      const { deliveries, next } = await notify.deliveries({
        limit,
        ...given({ before: cursor }),
      });
      return { deliveries: deliveries.map(toWireDelivery), next_cursor: next };
    },
  }),
  route('POST', `${path}/deliveries/:id/resend`, {
    id: 'resendDelivery',
    summary: 'Sends a notification again, with the same id: a receiver that has it ignores it',
    access: OPERATORS,
    answers: ['The delivery', wireDeliverySchema],
    async handle(asked) {
      const { id } = asked.params;
      const delivery = await notify.resend(id);
      if (!delivery)
        throw new HttpError(
          'not_found',
          `There is no delivery ${quoted(id)}; GET ${path}/deliveries lists them.`,
        );
      const { target } = delivery;
      await writeDown(deps, asked, { act: 'notice_resent', target: id, detail: { target } });
      return toWireDelivery(delivery);
    },
  }),
  route('POST', `${path}/targets/:id/test`, {
    id: 'testNotifyTarget',
    summary: 'Sends a notification that says that it is a test',
    access: OPERATORS,
    answers: ['The delivery', wireDeliverySchema],
    async handle(asked) {
      const { id } = asked.params;
      const delivery = await notify.test(id);
      if (!delivery) throw noTarget(id);
      await writeDown(deps, asked, { act: 'notice_tested', target: id });
      return toWireDelivery(delivery);
    },
  }),
  route('POST', `${path}/targets/:id/enable`, {
    id: 'enableNotifyTarget',
    summary: 'Turns a target on again that answered 410',
    access: OPERATORS,
    answers: ['The target', wireTargetSchema],
    async handle(asked) {
      const { id } = asked.params;
      const isThere = await notify.enable(id);
      const target = isThere && notify.targets().find((one) => one.id === id);
      if (!target) throw noTarget(id);
      await writeDown(deps, asked, { act: 'notify_target_enabled', target: id });
      return toWireTarget(target);
    },
  }),
];

const noTarget = (id: string) =>
  new HttpError('not_found', `There is no target ${quoted(id)}; GET ${path}/targets lists them.`);

const toWireTarget = (target: ListedTarget): WireTarget => ({
  id: target.id,
  state: target.offSince !== null ? 'off' : target.slowedUntil !== null ? 'slowed' : 'on',
  slowed_until: toSeconds(target.slowedUntil),
  off_since: toSeconds(target.offSince),
  failures_in_row: target.failuresInRow,
  open: target.open,
  host: target.shown?.host ?? null,
  events: target.shown ? [...target.shown.events] : null,
});

function toWireDelivery({ notice, ...delivery }: DeliveryRecord): WireDelivery {
  const { data } = notice;
  return {
    id: delivery.id,
    notice_id: notice.id,
    type: notice.type,
    target: delivery.target,
    state: delivery.state,
    attempts: delivery.attempts,
    made_at: delivery.madeAt / 1_000,
    tried_at: toSeconds(delivery.triedAt),
    next_at: toSeconds(delivery.nextAt),
    status: delivery.status,
    error: delivery.error,
    about: subjectOf(data),
    link: data.link,
  };
}

function subjectOf(data: NoticeData): string {
  if ('tool_name' in data) return data.tool_name;
  return 'title' in data ? data.title : data.name;
}
