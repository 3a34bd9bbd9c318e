import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CLOSE } from '#lib/protocol/server-messages';
import { errorMessage } from '#lib/util/error-message';
import { boundHeapGrowth } from '../base/collect-garbage.ts';
import { createLogger } from '../base/logger.ts';
import { bannerJson, formatBanner, ownAddress } from './banner.ts';
import { type Config, ConfigError, readConfig } from './config.ts';
import { type Core, createCore } from './create-core.ts';
import { createEndpoints, type Endpoints } from './create-endpoints.ts';
import { type AddressFile, createAddressFile } from './data-dir-files.ts';
import { openBrowser, watchParent } from './launcher.ts';
import { readArguments, readNetwork } from './network.ts';
import * as rooms from './rooms.ts';

const { describeEnd, EXIT, untilWritable } = rooms.store;

/** For spans that were not sent yet when the server was stopped. */
const LAST_SPANS_MS = 1_000;
/** For callers that waited when the server was stopped. */
const LAST_ANSWERS_MS = 1_500;
const logger = createLogger();

/** Refuses new work, answers those who wait, makes all durable: in five seconds at most (contract, section 3). */
async function shutDown(core: Core, endpoints: Endpoints, address: AddressFile): Promise<void> {
  address.remove();
  const turnsEnded = core.runs.close();
  core.calls.stop();
  core.listings.stop();
  core.policies.stop();
  core.devices.stop();
  const serversStopped = core.mcpServers.stop();
  core.notifications.stop();
  endpoints.hub.close();
  endpoints.gate.close(CLOSE.restarting, 'The server is restarting');
  await turnsEnded;
  // The port stays open meanwhile, so that new requests are answered with "stopping".
  // guard: last-answers-awaited
  await endpoints.answered(LAST_ANSWERS_MS);
  endpoints.server.close();
  endpoints.server.closeIdleConnections();
  await endpoints.pages.close();
  await core.retention.stop();
  await serversStopped;
  // fault point: pages-closed
  // guard: store-closed-before-end
  await core.opened.close();
  await core.tracing.close(LAST_SPANS_MS);
  await core.stopAlive();
  core.lock.release();
  endpoints.server.closeAllConnections();
}

async function printBanner(
  config: Config,
  core: Core,
  endpoints: Endpoints,
  format: typeof formatBanner,
): Promise<string> {
  const reach = endpoints.reach.describe();
  const url = ownAddress(reach);
  const signInUrl = `${url}${endpoints.signInCodes.make()}`;
  const { dataDir, model, keep } = config;
  const isGiven = core.operator.source === 'given';
  const token = isGiven ? 'from CALLBOARD_TOKEN' : join(dataDir, 'token');
  const history = await rooms.history.readHistory({ ...core, keep });
  const facts = { url, reach, signInUrl, dataDir, token, history, models: core.models };
  process.stdout.write(format({ ...facts, isModelSet: model !== undefined }));
  return signInUrl;
}

/**
 * Only a new start finds out what a failed write left on disk. Until the disk takes
 * one, people can read; clients keep what they have to write and come back.
 */
async function endOnceWritable(error: Error, config: Config, endpoints: Endpoints): Promise<void> {
  logger.failure(error.message);
  // guard: failed-store-closes-lines
  endpoints.gate.close(CLOSE.restarting, 'The server cannot write its record');
  await untilWritable({ dir: config.dataDir, pause: (ms) => sleep(ms) });
  process.exit(EXIT.storeFailed);
}

/** Without the file the server is found by its address alone; what a full disk means for it the store decides. */
function publishAddress(file: AddressFile, url: string): void {
  try {
    file.publish(url);
  } catch (error) {
    logger.warn(
      `The address is not in the data directory (${errorMessage(error)}): programs need --url`,
    );
  }
}

async function main(): Promise<void> {
  boundHeapGrowth();
  const config = readConfig(process.env, process.cwd());
  logger.set(config.log);
  const closing = new AbortController();
  const storeFailed = Promise.withResolvers<Error>();
  const args = readArguments(process.argv.slice(2));
  const network = readNetwork(config, args);
  const core = await createCore(config, {
    salvage: args.salvage,
    env: process.env,
    logger,
    onStoreFailed: storeFailed.resolve,
  });
  // One that a killed server left must lead nobody to this one's port before it listens.
  const address = createAddressFile(join(config.dataDir, 'address'), process.pid);
  address.remove();
  const endpoints = await createEndpoints(config, network, core, closing.signal);
  publishAddress(address, ownAddress(endpoints.reach.describe()));
  core.notifications.start({
    calls: core.calls,
    origin: () => endpoints.reach.addresses()[0] ?? '',
  });

  const stop = (code = 0) => {
    if (closing.signal.aborted) return;
    closing.abort();
    // fault point: stop-limit
    setTimeout(() => process.exit(code || 1), 4_500).unref();
    shutDown(core, endpoints, address).then(
      () => process.exit(code),
      (error: unknown) => {
        logger.error(error);
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', () => stop());
  process.on('SIGINT', () => stop());
  watchParent(() => stop());
  core.retention.start();
  core.opened.checkLater((damage) => {
    logger.failure(damage.message);
    stop(EXIT.storeDamaged);
  });
  storeFailed.promise
    .then((error) => endOnceWritable(error, config, endpoints))
    .catch(logger.error);
  // It serves already; two seconds at most, so that the greeting names the model that is used.
  await core.models.discover();
  const stopAsking = core.models.keepAsking((model) => logger.info(`Model: ${model}`));
  closing.signal.addEventListener('abort', stopAsking);
  const signIn = await printBanner(config, core, endpoints, args.json ? bannerJson : formatBanner);
  for (const line of rooms.runs.withoutModel(config.agents, core.models)) logger.info(line);
  await openBrowser(signIn, { env: process.env, platform: process.platform });
}

// fault point: start
main().catch((error: unknown) => {
  const { code, line } = describeEnd(error, [ConfigError]);
  if (line === undefined) logger.error(error);
  else logger.failure(line);
  process.exit(code);
});
