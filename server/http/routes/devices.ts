import {
  deviceSchema,
  devicesPageSchema,
  devicesQuerySchema,
  deviceToolsBodySchema,
  renameDeviceBodySchema,
} from '#lib/protocol/device';
import { given } from '#lib/util/given';
import type { HttpDeps } from '../http-deps.ts';
import { json } from '../response.ts';
import { defineRoute, type Route } from '../route.ts';
import { OPERATORS, VIEWERS } from './access.ts';
import { askedBy } from './asked-by.ts';

const path = '/v1/devices';
const tag = 'devices';

type Deps = Pick<HttpDeps, 'devices'>;

/** The devices that people let in. */
export const deviceRoutes = (deps: Deps): Route[] => [...readRoutes(deps), ...changeRoutes(deps)];

const readRoutes = ({ devices }: Deps): Route[] => [
  defineRoute({
    method: 'GET',
    path,
    id: 'listDevices',
    tag,
    summary: 'Devices, newest first; revoked ones as well',
    access: VIEWERS,
    query: devicesQuerySchema,
    responses: { 200: { description: 'A page of devices', schema: devicesPageSchema } },
    handle({ query: { cursor, limit } }) {
      const { next, devices: page } = devices.list({ limit, ...given({ before: cursor }) });
      return json(200, { devices: page, next_cursor: next });
    },
  }),
  defineRoute({
    method: 'GET',
    path: `${path}/:id`,
    id: 'getDevice',
    tag,
    summary: 'A device, with the tools that it may offer and those that wait for a person',
    access: VIEWERS,
    responses: { 200: { description: 'The device', schema: deviceSchema } },
    handle: ({ params: { id } }) => json(200, devices.get(id)),
  }),
];

const changeRoutes = ({ devices }: Deps): Route[] => [
  defineRoute({
    method: 'PUT',
    path: `${path}/:id`,
    id: 'renameDevice',
    tag,
    summary: 'Give a device another name',
    access: OPERATORS,
    body: renameDeviceBodySchema,
    responses: { 200: { description: 'The device after it', schema: deviceSchema } },
    handle: async (asked) =>
      json(200, await devices.rename(asked.params.id, asked.body.name, askedBy(asked))),
  }),
  defineRoute({
    method: 'DELETE',
    path: `${path}/:id`,
    id: 'revokeDevice',
    tag,
    summary: 'Revoke a device for good. Its sockets are closed, its tools go, its calls end',
    access: OPERATORS,
    responses: { 200: { description: 'The device that was revoked', schema: deviceSchema } },
    handle: async (asked) => json(200, await devices.revoke(asked.params.id, askedBy(asked))),
  }),
  defineRoute({
    method: 'POST',
    path: `${path}/:id/tools`,
    id: 'decideDeviceTools',
    tag,
    summary: 'Allow or deny tools of a device, by the hashes that were seen',
    access: OPERATORS,
    body: deviceToolsBodySchema,
    responses: { 200: { description: 'The device after it', schema: deviceSchema } },
    handle: async (asked) =>
      json(200, await devices.decideTools(asked.params.id, asked.body, askedBy(asked))),
  }),
];
