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
import { OK } from '../response.ts';
import { type Route, routesOf } from '../route.ts';
import { askedBy, quoted, writeDown } from './access.ts';

const path = '/v1/devices';
const route = routesOf('devices');

/** The devices that people let in, and taking off a client, whether it was paired or not. */
export const deviceRoutes = ({ devices, disconnect, ...deps }: HttpDeps): Route[] => [
  route('GET', path, {
    id: 'listDevices',
    summary: 'Devices, newest first; revoked ones as well',
    access: VIEWERS,
    query: devicesQuerySchema,
    answers: ['A page of devices', devicesPageSchema],
    handle({ query: { cursor, limit } }) {
      const { next, devices: page } = devices.list({ limit, ...given({ before: cursor }) });
      return { devices: page, next_cursor: next };
    },
  }),
  route('GET', `${path}/:id`, {
    id: 'getDevice',
    summary: 'A device, with the tools that it may offer and those that wait for a person',
    access: VIEWERS,
    answers: ['The device', deviceSchema],
    handle: ({ params: { id } }) => devices.get(id),
  }),
  route('PUT', `${path}/:id`, {
    id: 'renameDevice',
    summary: 'Give a device another name',
    access: OPERATORS,
    body: renameDeviceBodySchema,
    answers: ['The device after it', deviceSchema],
    handle: async (asked) => await devices.rename(asked.params.id, asked.body.name, askedBy(asked)),
  }),
  route('DELETE', `${path}/:id`, {
    id: 'revokeDevice',
    summary: 'Revoke a device for good. Its sockets are closed, its tools go, its calls end',
    access: OPERATORS,
    answers: ['The device that was revoked', deviceSchema],
    handle: async (asked) => await devices.revoke(asked.params.id, askedBy(asked)),
  }),
  route('POST', `${path}/:id/tools`, {
    id: 'decideDeviceTools',
    summary: 'Allow or deny tools of a device, by the hashes that were seen',
    access: OPERATORS,
    body: deviceToolsBodySchema,
    answers: ['The device after it', deviceSchema],
    handle: async (asked) => await devices.decideTools(asked.params.id, asked.body, askedBy(asked)),
  }),
  route('POST', '/v1/clients/:id/disconnect', {
    id: 'disconnectClient',
    summary: 'Close the connections of a client. It does not come back by itself',
    access: OPERATORS,
    answers: ['How many there were', disconnectedSchema],
    async handle(asked) {
      const { id } = asked.params;
      const connections = await disconnect(id);
      if (connections === 0)
        throw new HttpError('not_found', `No client ${quoted(id)} is connected.`);
      const detail = { connections };
      await writeDown(deps, asked, { act: 'client_disconnected', target: id, detail });
      return { ...OK, connections };
    },
  }),
];
