import { z } from 'zod';
import { Counts } from '#lib/limits/counts';
import { askingText } from '#lib/protocol/asking-client';
import { childRunOf, type DelegatingTool, isDelegatingTool } from '#lib/protocol/child-run';
import type { RunRecord, RunSummary } from '#lib/protocol/run';
import type { ToolListing } from '#lib/protocol/tool-spec';
import type { Principal } from '../../auth/room.ts';
import {
  type AnyServerTool,
  defineTool,
  refusal,
  type ToolContext,
  ToolError,
  type ToolRegistry,
} from '../../tools/room.ts';
import { placeOf } from '../active-turns.ts';
import type { Models } from '../agent/models.ts';
import { wordsIn } from '../agent/turn.ts';
import type { AgentRuns } from '../agent-runs.ts';
import type { KnownRuns } from '../known-runs.ts';
import type { OwnerTokens } from '../run-owner.ts';
import type { SubAgentSettings } from '../runs-config.ts';
import { modelOf, type SubAgent, toolsOf, toSubAgents } from './sub-agents.ts';

export interface DelegationParts {
  readonly known: Pick<KnownRuns, 'load' | 'inMemory'> & {
    readonly turns: Pick<KnownRuns['turns'], 'runOf'>;
  };
  readonly registry: Pick<ToolRegistry, 'list'>;
  readonly models: Pick<Models, 'resolve'>;
  readonly owners: OwnerTokens;
}

/** The part of the configuration that delegation needs. */
export interface DelegationOptions {
  readonly agents: Readonly<Record<string, SubAgentSettings>>;
  readonly file: {
    readonly agent: { readonly max_depth: number };
    /** The second of the two ways to give a task is there, too. */
    readonly tools: { readonly new_task?: object | undefined };
  };
}

const TIMEOUT_MS = 120_000;
/** Sub-agents that work for one run at a time. */
const MOST_AT_WORK = 10;

type ChildRuns = Pick<AgentRuns, 'runChild'>;
type Lists = Pick<ToolRegistry, 'list' | 'find'>;

/** Sub-agents: the tool that starts them, and who is offered to whom (rules DE in SPEC.md). */
export class Delegation {
  readonly #agents: ReadonlyMap<string, SubAgent>;
  readonly #maxDepth: number;
  readonly #tools: readonly DelegatingTool[];
  readonly #parts: DelegationParts;
  /** Sub-agents at work, by the run that a person or a program began. */
  readonly #atWork = new Counts();

  constructor({ agents, file }: DelegationOptions, parts: DelegationParts) {
    this.#parts = parts;
    this.#agents = toSubAgents(agents);
    this.#maxDepth = file.agent.max_depth;
    this.#tools = file.tools.new_task ? ['delegate', 'new_task'] : ['delegate'];
  }

  /** None where the configuration has no sub-agents. `runs` do the work. */
  tools(runs: ChildRuns): AnyServerTool[] {
    const names = [...this.#agents.keys()];
    if (names.length === 0) return [];
    return this.#tools.map((name) => {
      const form = TASK_FORMS[name];
      return defineTool({
        name,
        displayName: form.displayName,
        args: form.args(names),
        description: describeTool(form, [...this.#agents.values()]),
        // Not run again after a restart: its sub-agent's calls may have had effects.
        effect: 'write',
        timeoutMs: TIMEOUT_MS,
        run: (args, context) => this.#run(runs, form, form.read(args), context),
      });
    });
  }

  /** The same tools, with those that give a task for the sub-agents that the principal's run can have now. */
  offering(registry: Lists): Lists {
    return {
      find: (...asked) => registry.find(...asked),
      list: (principal, ...more) =>
        registry.list(principal, ...more).map((listing, _at, all) => {
          const { name, source } = listing;
          if (!isDelegatingTool(name) || source !== 'server') return listing;
          return this.#listingFor(principal, { ...listing, name }, all);
        }),
    };
  }

  readonly settingsOf = (name: string): SubAgent | undefined => this.#agents.get(name);

  #listingFor(
    principal: Principal,
    listing: ToolListing & { name: DelegatingTool },
    all: readonly ToolListing[],
  ): ToolListing {
    const run = principal.kind === 'run' ? this.#parts.known.inMemory(principal.runId) : undefined;
    if (!run) return listing;
    const obstacles = new Map<SubAgent, string>();
    for (const agent of this.#agents.values()) {
      const obstacle = this.#obstacle(agent, run.summary(), all);
      if (obstacle !== undefined) obstacles.set(agent, obstacle);
    }
    const agents = [...this.#agents.values()].filter((agent) => !obstacles.has(agent));
    const [reason] = obstacles.values();
    if (agents.length === 0 && reason !== undefined) return { ...listing, callable: false, reason };
    const form = TASK_FORMS[listing.name];
    const description = describeTool(form, agents);
    const names = agents.map(({ name }) => name);
    return { ...listing, description, schema: schemaOf(form, names) };
  }

  #obstacle(
    agent: SubAgent,
    parent: RunSummary,
    listings: readonly ToolListing[],
  ): string | undefined {
    const { known, models } = this.#parts;
    // Also of a run that is not at work: what its next step would be offered.
    const { depth, lineage } = placeOf({ runOf: known.inMemory }, parent.run_id);
    if (depth >= this.#maxDepth) {
      return `Max delegation depth reached (${depth}/${this.#maxDepth}); do the task yourself.`;
    }
    if (lineage.includes(agent.name)) {
      return `${agent.name} is at work above this run already (${lineage.toReversed().join(' > ')}), and never delegates to itself.`;
    }
    const model = models.resolve(modelOf(agent, parent));
    if (!model.ok) return `${agent.name} cannot work now: ${model.message}`;
    const isWithout = agent.tools.length > 0 && toolsOf(agent, listings, parent.tools).length === 0;
    return isWithout ? `${agent.name} cannot work now: none of its tools is here.` : undefined;
  }

  async #run(runs: ChildRuns, form: TaskForm, { agent: name, task }: Task, context: ToolContext) {
    const { known, registry, owners } = this.#parts;
    const agent = this.#agents.get(name);
    const run = await known.load(context.runId);
    const parent = run?.summary();
    if (!agent || !run || !parent) throw refusal(`There is no sub-agent ${name} here.`);
    const owner = owners.callerOf(parent.owner?.token_id ?? null);
    if (!owner) throw refusal('The token of the owner of this run was revoked.');
    if (parent.parent && !known.turns.runOf(parent.run_id)) {
      throw refusal('The work of this sub-agent has ended.');
    }
    const principal = { kind: 'run', runId: parent.run_id, owner } as const;
    const listings = registry.list(principal);
    const obstacle = this.#obstacle(agent, parent, listings);
    if (obstacle !== undefined) throw refusal(obstacle);
    const { depth, rootId } = placeOf(known.turns, parent.run_id);
    const asked = run.messages().findLast(({ role }) => role === 'user');
    if (this.#atWork.of(rootId) >= MOST_AT_WORK) {
      throw refusal(`${MOST_AT_WORK} sub-agents are at work already; wait until one has ended.`);
    }
    const outcome = await this.#atWork.during(rootId, () =>
      runs.runChild({
        parent: { run_id: parent.run_id, call_id: context.callId, agent: name, depth: depth + 1 },
        task,
        model: modelOf(agent, parent),
        owner: parent.owner,
        signal: context.signal,
        tools: toolsOf(agent, listings, parent.tools),
        clientId: askingText(asked?.client_id, asked?.instance_id),
        author: asked?.author,
        traceparent: context.traceparent,
      }),
    );
    if (!outcome.ok) throw refusal(outcome.message);
    return { output: form.answer(answerOf(name, outcome.run), childRunOf(context.callId)) };
  }
}

/** Its last words. A turn that did not end well is a call that failed. */
function answerOf(name: string, { status, error, messages }: RunRecord): string {
  if (status === 'failed') throw new ToolError(`${name} failed: ${error?.message ?? 'no reason'}`);
  if (status === 'cancelled') throw new ToolError(`${name} was stopped.`);
  const last = messages.at(-1);
  const text = last?.role === 'assistant' ? wordsIn(last) : '';
  if (text.trim() === '') throw new ToolError(`${name} ended without an answer.`);
  return text;
}

const LONGEST_TASK = 100_000;

interface Task {
  readonly agent: string;
  readonly task: string;
}

/** How a model gives a task to a sub-agent, and in which form it gets the answer. */
interface TaskForm {
  readonly displayName: string;
  readonly description: string;
  args(names: readonly string[]): z.ZodObject;
  /** Reads arguments that fit. */
  read(args: Readonly<Record<string, unknown>>): Task;
  answer(text: string, childId: string): unknown;
}

const task = z
  .string()
  .min(1)
  .max(LONGEST_TASK)
  .describe('All that it has to know: it sees nothing of this conversation');
const agent = (names: readonly string[]) => z.enum(names).describe('Which sub-agent is to do it');
const delegated = z.object({ agent: z.string(), task });
const begun = z.object({ agentName: z.string(), input: task });

const TASK_FORMS: Readonly<Record<DelegatingTool, TaskForm>> = {
  delegate: {
    displayName: 'Delegate',
    description:
      'Gives a task to a sub-agent, which works on it with tools of its own and answers once. Its last answer is the result. Several calls at once work side by side.',
    args: (names) => z.object({ agent: agent(names), task }),
    read: (args) => delegated.parse(args),
    answer: (text) => text,
  },
  new_task: {
    displayName: 'New task',
    description:
      'Begins a task of its own, which a sub-agent works on with tools of its own, and waits for its end. Returns {success, summary, subtaskId, error}; summary is its last answer. One that fails is a failed call.',
    args: (names) =>
      z.object({
        agentName: agent(names),
        taskName: z.string().min(1).max(200).describe('A few words, for people'),
        input: task,
      }),
    read: (args) => {
      const { agentName, input } = begun.parse(args);
      return { agent: agentName, task: input };
    },
    answer: (summary, subtaskId) => ({ success: true, summary, subtaskId, error: null }),
  },
};

function schemaOf(form: TaskForm, names: readonly string[]): Record<string, unknown> {
  const { $schema: _, ...schema } = z.toJSONSchema(form.args(names), { io: 'input' });
  return schema;
}

const describeTool = (form: TaskForm, agents: readonly SubAgent[]): string =>
  [form.description, ...agents.map(({ name, description }) => `- ${name}: ${description}`)].join(
    '\n',
  );
