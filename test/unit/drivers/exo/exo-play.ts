import type { Talk, TalkRequest } from '../../../../src/drivers/contract/driver.ts';
import { beginDialogue } from '../../../../src/drivers/registry.ts';
import type { ExoPlacement } from '../../../../src/model/endpoint-calls.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { sayValue } from '../../one-page.ts';
import { exoCase, ids } from './exo-case.ts';

/** The model that is placed. */
export const qwen = 'mlx-community/Qwen3-235B-A22B-Instruct-2507-8bit';
const wish: ExoPlacement = {
  nodes: [nodeName('studio-1'), nodeName('studio-2')],
  port: 52_500,
  modelId: qwen,
  sharding: 'Pipeline',
  meta: 'MlxRing',
  bytesPerNode: 134_217_728_000,
};

/** An answer of exo: a text has status 200, a number is a status without a body. */
type Answer = string | number | { readonly status: number; readonly body: string };

/** A played dialogue: its end, its requests and its simulated time. */
interface Played {
  readonly end: Talk;
  readonly asked: readonly TalkRequest[];
  readonly atMs: number;
}

/**
 * Plays a dialogue to its end, and records the end and the actions on the page of the test file. @param answer returns
 * the answer to a request, given the number of earlier identical requests
 */
export function play(
  answer: (request: TalkRequest, count: number) => Answer,
  change: Partial<ExoPlacement> = {},
): Played {
  let talk = beginDialogue({ name: 'exo-place', args: { ...wish, ...change } });
  let atMs = 0;
  const asked: TalkRequest[] = [];
  const doing = new Set<string>();
  while (talk.kind === 'ask') {
    const { request, afterMs, about, hear } = talk;
    const limit = request.limitMs === undefined ? '' : ` within ${request.limitMs} ms`;
    doing.add(`${about}: ${request.method} after ${afterMs} ms${limit}`);
    const key = keyOf(request);
    const given = answer(request, asked.filter((one) => keyOf(one) === key).length);
    asked.push(request);
    atMs += afterMs + 10;
    if (asked.length > 5_000) throw new Error('the dialogue does not end');
    talk = hear({ ...(typeof given === 'object' ? given : wholeOf(given)), atMs });
  }
  sayValue({ end: talk, requests: asked.length, atMs, doing: [...doing] });
  return { end: talk, asked, atMs };
}

const wholeOf = (given: string | number) =>
  typeof given === 'number' ? { status: given, body: '' } : { status: 200, body: given };

/** A request as text, without its query. */
export const keyOf = ({ node, method, path }: TalkRequest): string => `${node} ${method} ${path.split('?')[0]}`;

/** A state of exo as JSON. */
export type JsonState = Record<string, unknown> & { instances: object; runners: object; topology: { nodes: string[] } };

/** The state of two nodes with an instance, or without one. */
export const loading = (): JsonState => JSON.parse(exoCase('state-2node-ring-pipeline-loading.json'));

/** The previews with the instance for both nodes. */
const previews = JSON.parse(exoCase('previews-no-rdma.json')) as {
  previews: { instance: Record<string, InstanceBody> | null }[];
};
interface InstanceBody {
  readonly instanceId: string;
  readonly shardAssignments: { readonly nodeToRunner: Readonly<Record<string, string>> };
}
const isOfBoth = (one: Record<string, InstanceBody>): boolean =>
  Object.values(one).some(({ shardAssignments }) => Object.keys(shardAssignments.nodeToRunner).length === 2);
export const [instance] = previews.previews.flatMap((one) =>
  one.instance !== null && isOfBoth(one.instance) ? [one.instance] : [],
);
const [body] = Object.values(instance ?? {});

/** A state with the offered instance and its runners in this state, or without an instance. */
export function stateWith(runner: object | undefined, change: (state: JsonState) => void = () => undefined): string {
  const state = loading();
  state.instances = runner === undefined || body === undefined ? {} : { [body.instanceId]: instance };
  const runners = Object.values(body?.shardAssignments.nodeToRunner ?? {});
  state.runners = runner === undefined ? {} : Object.fromEntries(runners.map((id) => [id, runner]));
  change(state);
  return JSON.stringify(state);
}

/** An exo without failures, with the states of its runners one after another; the last one stays. */
export function well(states: readonly (string | number)[], more: Readonly<Record<string, Answer>> = {}) {
  let isPosted = false;
  let stateReads = 0;
  return (request: TalkRequest): Answer => {
    const key = `${request.method} ${request.path.split('?')[0]}`;
    if (key === 'POST /instance') isPosted = true;
    if (key === 'GET /state' && isPosted && more[key] === undefined) {
      stateReads += 1;
      return states[Math.min(stateReads, states.length) - 1] ?? 500;
    }
    const fixed: Readonly<Record<string, Answer>> = {
      'GET /node_id': JSON.stringify(ids[wish.nodes.indexOf(request.node)]),
      'GET /state': stateWith(undefined),
      'GET /models': exoCase('models.json'),
      'GET /instance/previews': exoCase('previews-no-rdma.json'),
      'POST /instance': exoCase('instance-create.response.json'),
      ...more,
    };
    return fixed[key] ?? (request.method === 'DELETE' ? exoCase('instance-delete.response.json') : 404);
  };
}

/** A state in which all runners are ready. */
export const ready = stateWith({ RunnerReady: {} });
