import type { IncomingMessage, ServerResponse } from 'node:http';
import { HttpError } from '#lib/protocol/http-error';
import { EVERYONE } from '../doors/room.ts';
import { InboundBudget, OutboundBudget } from '../sockets/room.ts';
import { createRouteRunner } from './create-route-runner.ts';
import { describeApi } from './describe-api.ts';
import { errorResponse } from './error-response.ts';
import type { HttpDeps } from './http-deps.ts';
import type { Known } from './known-connections.ts';
import type { Route } from './route.ts';
import type { Target } from './route-table.ts';
import { createRouteTable } from './route-table.ts';
import { agUiRoute } from './routes/ag-ui.ts';
import { approvalRoutes } from './routes/approvals.ts';
import { auditRoute } from './routes/audit.ts';
import { authRoutes } from './routes/auth.ts';
import { blobRoutes } from './routes/blobs.ts';
import { clientStreamRoutes } from './routes/client-stream.ts';
import { deviceRoutes } from './routes/devices.ts';
import { eventsRoute } from './routes/events.ts';
import { internalRoutes } from './routes/internal.ts';
import { mcpRoutes } from './routes/mcp.ts';
import { mcpServerRoutes } from './routes/mcp-servers.ts';
import { notifyRoutes } from './routes/notify.ts';
import { openAiRoutes } from './routes/openai.ts';
import { pairingRoutes } from './routes/pairings.ts';
import { policyRoutes } from './routes/policy.ts';
import { pushRoutes } from './routes/push.ts';
import { runRoutes } from './routes/runs.ts';
import { systemRoutes } from './routes/system.ts';
import { tokenRoutes } from './routes/tokens.ts';
import { toolCallRoutes } from './routes/tool-calls.ts';
import { toolRoutes } from './routes/tools.ts';

/** Answers a request for one of the API's paths. The host gate comes before it. */
export type Api = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  target: Target,
  known?: Known,
) => void;

/** The HTTP API: one list of routes that is served, and described in `/openapi.json`. */
export function createApi(deps: HttpDeps): Api {
  let document: string | undefined;
  const openApi = () => {
    document ??= JSON.stringify(describeApi(routes, deps.sessions.cookieName));
    return document;
  };
  const routes: Route[] = [
    ...toolRoutes(deps),
    ...toolCallRoutes(deps),
    ...approvalRoutes(deps),
    ...runRoutes(deps),
    eventsRoute(deps),
    ...blobRoutes(deps),
    ...internalRoutes(deps),
    ...clientStreamRoutes(deps),
    ...authRoutes(deps),
    ...tokenRoutes(deps),
    auditRoute(deps),
    ...pairingRoutes(deps),
    ...deviceRoutes(deps),
    ...pushRoutes(deps),
    ...policyRoutes(deps),
    ...notifyRoutes(deps),
    ...mcpRoutes(deps),
    agUiRoute(deps),
    ...mcpServerRoutes(deps),
    ...(deps.openAi ? openAiRoutes(deps.openAi, deps) : []),
    ...systemRoutes(deps, openApi),
  ];
  const find = createRouteTable(routes);
  const run = createRouteRunner({
    ...deps,
    untrustedInbound: new InboundBudget({ clock: deps.clock }),
    outbound: new OutboundBudget(deps),
  });
  return (incoming, outgoing, { pathname, search }, known) => {
    const match = find(incoming.method ?? '', pathname);
    const asked = { search, known };
    if (match.route) void run(match.route, match.params, incoming, outgoing, asked);
    else void run(missingRoute(match.methods, pathname), {}, incoming, outgoing, asked);
  };
}

/** Answers a path that has no route, or not with this method. It needs a credential as any other, and so reveals no path. */
const missingRoute = (methods: readonly string[], path: string): Route => ({
  method: 'GET',
  path: '*',
  id: 'missing',
  tag: 'system',
  summary: 'No such path',
  access: EVERYONE,
  responses: {},
  async run(_principal, _params, { incoming }) {
    if (methods.length === 0) {
      throw new HttpError(
        'not_found',
        path === '/v1/chat/completions' || path === '/v1/responses'
          ? 'The API of OpenAI is off; set openai_api.enabled to true in the configuration file, and restart.'
          : 'This path does not exist; GET /openapi.json lists all paths.',
      );
    }
    const allowed = methods.join(', ');
    const message = `This path does not accept ${incoming.method}; it accepts ${allowed}.`;
    // RFC 9110, section 15.5.6: with this status the methods are in a header as well.
    const response = errorResponse(new HttpError('method_not_allowed', message));
    return { ...response, headers: { allow: allowed } };
  },
});
