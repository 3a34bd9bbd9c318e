import {
  deviceSchema,
  devicesPageSchema,
  devicesQuerySchema,
  deviceToolsBodySchema,
  renameDeviceBodySchema,
} from '#lib/protocol/device';
import { HttpError } from '#lib/protocol/http-error';
import { disconnectedSchema } from '#lib/protocol/rest';
import { given } from '#lib/util/given';
import { OPERATORS, VIEWERS } from '../../doors/room.ts';
import type { HttpDeps } from '../http-deps.ts';
import { json } from '../response.ts';
import { type Route, routesOf } from '../route.ts';
import { askedBy, quoted, writeDown } from './access.ts';

const path = '/v1/devices';
const route = routesOf('devices');

/** The devices that people let in. */
export const deviceRoutes = (deps: HttpDeps): Route[] => [
  ...readRoutes(deps),
  ...changeRoutes(deps),
  disconnectRoute(deps),
];

const readRoutes = ({ devices }: HttpDeps): Route[] => [
  route('GET', path, {
    id: 'listDevices',
    summary: 'Devices, newest first; revoked ones as well',
    access: VIEWERS,
    query: devicesQuerySchema,
    responses: { 200: { description: 'A page of devices', schema: devicesPageSchema } },
    handle({ query: { cursor, limit } }) {
      const { next, devices: page } = devices.list({ limit, ...given({ before: cursor }) });
      return json(200, { devices: page, next_cursor: next });
    },
  }),
  route('GET', `${path}/:id`, {
    id: 'getDevice',
    summary: 'A device, with the tools that it may offer and those that wait for a person',
    access: VIEWERS,
    responses: { 200: { description: 'The device', schema: deviceSchema } },
    handle: ({ params: { id } }) => json(200, devices.get(id)),
  }),
];

const changeRoutes = ({ devices }: HttpDeps): Route[] => [
  route('PUT', `${path}/:id`, {
    id: 'renameDevice',
    summary: 'Give a device another name',
    access: OPERATORS,
    body: renameDeviceBodySchema,
    responses: { 200: { description: 'The device after it', schema: deviceSchema } },
    handle: async (asked) =>
      json(200, await devices.rename(asked.params.id, asked.body.name, askedBy(asked))),
  }),
  route('DELETE', `${path}/:id`, {
    id: 'revokeDevice',
    summary: 'Revoke a device for good. Its sockets are closed, its tools go, its calls end',
    access: OPERATORS,
    responses: { 200: { description: 'The device that was revoked', schema: deviceSchema } },
    handle: async (asked) => json(200, await devices.revoke(asked.params.id, askedBy(asked))),
  }),
  route('POST', `${path}/:id/tools`, {
    id: 'decideDeviceTools',
    summary: 'Allow or deny tools of a device, by the hashes that were seen',
    access: OPERATORS,
    body: deviceToolsBodySchema,
    responses: { 200: { description: 'The device after it', schema: deviceSchema } },
    handle: async (asked) =>
      json(200, await devices.decideTools(asked.params.id, asked.body, askedBy(asked))),
  }),
];

/** Taking a client off, whether it was paired or not. */
const disconnectRoute = ({ disconnect, ...deps }: HttpDeps): Route =>
  route('POST', '/v1/clients/:id/disconnect', {
    id: 'disconnectClient',
    summary: 'Close the connections of a client. It does not come back by itself',
    access: OPERATORS,
    responses: { 200: { description: 'How many there were', schema: disconnectedSchema } },
    async handle(asked) {
      const { id } = asked.params;
      const connections = await disconnect(id);
      if (connections === 0)
        throw new HttpError('not_found', `No client ${quoted(id)} is connected.`);
      const detail = { connections };
      await writeDown(deps, asked, { act: 'client_disconnected', target: id, detail });
      return json(200, { ok: true, connections });
    },
  });
