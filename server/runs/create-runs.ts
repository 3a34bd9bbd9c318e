import { type BlobStore, scaleForModel } from '../blobs/room.ts';
import type { ClaimRun } from '../calls/room.ts';
import { createRehearsalModel } from '../rehearsal/room.ts';
import { type AnyServerTool, OwnTools, type ToolRegistry } from '../tools/room.ts';
import { agentLimits, createAgent } from './agent/create-agent.ts';
import type { LanguageModelsOptions } from './agent/language-models.ts';
import type { ModelSettings } from './agent/model-facts.ts';
import { Models } from './agent/models.ts';
import type { TurnDeps } from './agent/turn.ts';
import { AgentRuns, type RunServiceDeps } from './agent-runs.ts';
import { Delegation, type DelegationOptions } from './delegate/delegation.ts';
import { KnownRuns, type KnownRunsDeps } from './known-runs.ts';
import { createReadResult, type ReadResultDeps } from './run-tools/read-result.ts';
import { createSearchTools, type SearchToolsDeps } from './run-tools/search-tools.ts';
import type { AgentSettings, PriceTable } from './runs-config.ts';

/** Between two pieces of what the rehearsal model writes: slow enough to be seen. */
const REHEARSAL_PACE_MS = 25;

/** The parts of the configuration that are the runs'. */
export interface RunsConfig extends DelegationOptions {
  readonly model: string | undefined;
  readonly providers: Omit<LanguageModelsOptions, 'rehearsal' | 'fetch'>;
  readonly models: Readonly<Record<string, ModelSettings>>;
  readonly file: DelegationOptions['file'] & {
    readonly agent: AgentSettings;
    readonly prices?: PriceTable | undefined;
  };
}

type RecordDeps = Omit<KnownRunsDeps, 'maxSteps' | 'prices'>;

/** Which runs there are, and whose: what is asked of each call, before there is an agent. */
export const createKnownRuns = ({ file }: RunsConfig, deps: RecordDeps): KnownRuns =>
  new KnownRuns({ ...deps, maxSteps: file.agent.max_steps, prices: file.prices });

/** Tools about a run itself (rules RT in run-tools/SPEC.md). */
export const createRunTools = (deps: ReadResultDeps & SearchToolsDeps): AnyServerTool[] => [
  createReadResult(deps),
  createSearchTools(deps),
];

export interface RunsDeps
  extends RecordDeps,
    Pick<RunServiceDeps, 'known' | 'calls' | 'owners' | 'offersTools'> {
  readonly registry: ToolRegistry;
  readonly denialOf: TurnDeps['denialOf'];
  readonly spans: TurnDeps['spans'] & RecordDeps['spans'];
  readonly blobs: Pick<BlobStore, 'read'>;
  readonly secrets: NonNullable<RecordDeps['secrets']>;
}

/** The built-in agent and its runs; the tools about runs are offered from now on. */
export function createRuns(config: RunsConfig, deps: RunsDeps) {
  const { known, calls, owners, registry, blobs, secrets, clock } = deps;
  const models = new Models({
    ...config.providers,
    defaultModel: config.model,
    settings: config.models,
    rehearsal: createRehearsalModel({ clock, paceMs: REHEARSAL_PACE_MS }),
    clock,
  });
  const delegation = new Delegation(config, { known, registry, models, owners });
  const offered = delegation.offering(registry);
  const agent = createAgent({
    ...deps,
    ...agentLimits(config.file.agent),
    registry: offered,
    images: { readBlob: (id) => blobs.read(id), scaleForModel: (bytes) => scaleForModel(bytes) },
  });
  const runs = new AgentRuns({ ...deps, agent, models, subAgent: delegation.settingsOf });
  const fileText: ReadResultDeps['fileText'] = async ({ blob_id: id }) => {
    const blob = await blobs.read(id);
    return blob && secrets.hide(new TextDecoder().decode(blob.bytes));
  };
  const { resultBytes } = agent;
  const ofRuns = createRunTools({ calls, runs, registry: offered, fileText, resultBytes });
  registry.provide(new OwnTools([...delegation.tools(runs), ...ofRuns]));
  // A title is text of a person: before it is cut, what is secret goes.
  const claimRun: ClaimRun = (runId, title, principal) =>
    known.claim(runId, secrets.hide(title), principal);
  return { runs, models, claimRun };
}
