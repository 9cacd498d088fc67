import { clearTextWords } from '../../../desired/endpoints.ts';
import { gatewayUser } from '../../../desired/layouts.ts';
import { nameInFile } from '../../../desired/replicas.ts';
import { diagnose } from '../../../diagnostics/diagnose.ts';
import type { DesiredFleet } from '../../../model/desired.ts';
import { exitCause, exitWords, mayRun } from '../../../model/facts/daemons.ts';
import type { InstalledFile } from '../../../model/facts/fact-values.ts';
import { andThen, type Known, known, mapKnown, seenValue, unknown } from '../../../model/known.ts';
import { oncePer } from '../../../model/lists.ts';
import type { NodePath } from '../../../model/probe.ts';
import type { Effect, Step, Text } from '../../../model/step.ts';
import { type Addressed, addressed, placementSubject } from '../../../model/subject.ts';
import {
  closedFolder,
  gatewayConfig,
  gatewayLabel,
  gatewayPlist,
  gatewayPort,
  gatewaysFolder,
  keysFolder,
} from '../../../node/paths/own-paths.ts';
import { textDigest } from '../../../node/put-file.ts';
import { compared } from '../../compare-values.ts';
import { readValue } from '../../fact.ts';
import { gatewaysFact } from '../../records/gateways-fact.ts';
import { unreadableState } from '../../records/services-fact.ts';
import { type ObservedTarget, type Property, perTarget, type Resource, type View } from '../../resource.ts';
import { closedAct, drainMs, type GatewayOnNode, stateAddress } from '../mesh/gateway-steps.ts';
import { scriptAct } from '../mesh/rank-states.ts';
import { placementsFact } from '../observed/fact.ts';
import { everyCase, gatewaysOf, type PlacementCase } from '../state/placement-cases.ts';
import { gatewayFiles, type PublishedPlacement, type WantedGateway, wantedGateways } from './gateways.ts';
import {
  type GatewayObservation,
  type GatewayWork,
  gatewaysSeen,
  putAct,
  putDeadlineMs,
  readAgainProperties,
  readAgainSteps,
  stepFor,
} from './read-again-resource.ts';
import { gatewayReadings, isClosed, leavingAt } from './seen-gateways.ts';

/**
 * The gateways that only the placement's own start may open, after its token. `unknown`: it is unknown whether anything
 * serves behind them. undefined: nothing prevents opening. A placement that remains on its fallback is checked there;
 * if a placement moves back, that move opens its gateways.
 */
function awaitedOf({ elsewhere, ...own }: PlacementCase, view: View): readonly GatewayOnNode[] | 'unknown' | undefined {
  if (elsewhere !== undefined && !view.staying.placements.includes(own.placement.name)) return gatewaysOf(own);
  const one = elsewhere ?? own;
  if (one.mesh.state === 'serving') return undefined;
  return one.mesh.state === 'unknown' ? 'unknown' : gatewaysOf(one);
}

/** Covers every placement: no run may open the gateway of a placement that it cannot check. */
const allAwaited = oncePer(
  (view: View): ReadonlyMap<string, ReturnType<typeof awaitedOf>> =>
    new Map(
      everyCase(view)
        .filter(({ placement }) => placement.state === 'serving')
        .map((one) => [one.placement.name, awaitedOf(one, view)]),
    ),
);

/** Shows whether a gateway accepts requests for each placement, except where a start of the placement opens it. */
function stateProperties(view: View, { port, placements }: WantedGateway, target: ObservedTarget): readonly Property[] {
  const awaited = allAwaited(view);
  return placements.flatMap((placement) => {
    const gateways = awaited.get(placement.name);
    const property = stateProperty(port, placement, target);
    if (gateways === 'unknown') return unlessClosed(property, placement.name);
    return gateways?.some((gateway) => gateway.leader === property.node && gateway.port === port) === true
      ? []
      : property;
  });
}

function stateProperty(port: number, placement: PublishedPlacement, target: ObservedTarget): Property {
  const { name, state } = placement;
  const observed = mapKnown(isClosed(target, port, name), (closed) => (closed ? 'closed' : 'open'));
  const to = state === 'stopped' ? 'closed' : 'open';
  return {
    node: target.desired.name,
    ...stateAddress(port, name),
    ...compared(to, observed, (value) => value),
    reason: `placements.${nameInFile(placement)}.state: ${state}`,
    after: ['identity', 'sudo'],
  };
}

/** A closed gateway waits while it is unknown whether its placement serves. */
function unlessClosed(property: Property, placement: string): Property {
  const { observed } = property;
  if (observed.kind === 'unknown' || observed.value === 'open') return property;
  const why = `it is closed, and whether ${placement} serves is unknown`;
  return { ...property, observed: unknown('failed', why), why };
}

const kind = 'gateway';

/** Placements with a key file at a gateway, whether it serves them or not. */
const keyedAt = (port: number, seen: GatewayObservation): readonly string[] => namesIn(keysFolder(port), seen);

const closedAt = (port: number, seen: GatewayObservation): readonly string[] => namesIn(closedFolder(port), seen);

const namesIn = ({ path: folder }: NodePath, { files }: GatewayObservation): readonly string[] =>
  files.flatMap(({ path }) => (path.startsWith(`${folder}/`) ? [path.slice(folder.length + 1)] : [])).toSorted();

export const gatewayAddress = (port: number): Addressed => addressed({ kind: 'gateway', port });

function gatewayProperties(fleet: DesiredFleet, target: ObservedTarget, view: View): readonly Property[] {
  const wanted = wantedGateways(fleet, target.desired.name);
  return [
    ...wanted.flatMap((one) => [
      programProperty(fleet, one, target),
      ...readAgainProperties(fleet, target, one),
      ...stateProperties(view, one, target),
    ]),
    ...leftPorts(wanted, target).map((port) => leftProperty(port, target)),
  ];
}

const stateWords: Readonly<Record<string, string>> = {
  absent: 'missing',
  changed: 'different from the file',
  stopped: 'not running',
  'not-listening': 'not listening',
};

const words = (value: string): string => stateWords[value] ?? `version ${value}`;

const isAsWanted = (files: readonly InstalledFile[], path: NodePath, content: Text): boolean =>
  files.some((one) => one.path === path.path && one.state === 'intact' && one.digest === textDigest(content));

function programProperty(fleet: DesiredFleet, wanted: WantedGateway, target: ObservedTarget): Property {
  const { config, plist, version } = gatewayFiles(fleet, wanted);
  const { port } = wanted;
  const seen = gatewaysSeen(target);
  const names = wanted.placements.map(({ name }) => name);
  const observed = andThen(seen, ({ files, services }): Known<string> => {
    const service = services.find(({ label }) => label === gatewayLabel(port));
    if (!hasFiles(files, port) && service === undefined) return known('absent');
    const isWhole = isAsWanted(files, gatewayConfig(port), config) && isAsWanted(files, gatewayPlist(port), plist);
    if (!isWhole) return known('changed');
    if (service?.state === 'unknown') return unreadableState(service.label);
    if (service?.state !== 'running') return known('stopped');
    const { behind } = service;
    if (names.some((name) => behind?.includes(name) === false)) return known('not-listening');
    // An earlier run may have written the files and stopped before it loaded them.
    const isOther = behind?.some((name) => !names.includes(name)) === true || !isOfVersion(version, port, target);
    if (isOther) return known('changed');
    return behind === undefined
      ? unknown('failed', `Could not check whether the gateway listens on port ${port}.`)
      : known(version);
  });
  return {
    node: target.desired.name,
    ...gatewayAddress(port),
    ...compared(version, observed, (value) => (value === 'stopped' ? stoppedWords(seen, port) : words(value))),
    reason: `endpoint of ${names.join(', ')}: listen: lan`,
    ...(seen.kind === 'known' && observed.kind === 'unknown' && { why: observed.detail }),
  };
}

/** `not running: exited (78: EX_CONFIG: …)`. */
function stoppedWords(seen: Known<GatewayObservation>, port: number): string {
  const lastExit = seenValue(seen)?.services.find(({ label }) => label === gatewayLabel(port))?.lastExit;
  return exitCause(lastExit) === undefined ? words('stopped') : `${words('stopped')}: ${exitWords(lastExit)}`;
}

/** True if the process at a port reports this version, or no version, like an older gateway. */
function isOfVersion(version: string, port: number, { facts }: ObservedTarget): boolean {
  const said = readValue(facts, gatewaysFact)?.find((one) => one.port === port);
  return said?.kind !== 'answered' || said.version === version;
}

const hasFiles = (files: readonly InstalledFile[], port: number): boolean => {
  const own = [gatewayPlist(port), gatewayConfig(port)].map(({ path }) => path);
  return files.some(({ path, state }) => own.includes(path) && state !== 'missing');
};

function leftPorts(wanted: readonly WantedGateway[], target: ObservedTarget): readonly number[] {
  const { services, files } = seenValue(gatewaysSeen(target)) ?? { services: [], files: [] };
  const inFolder = files.flatMap(({ path, state }) => (state === 'missing' ? [] : (portOfFile(path) ?? [])));
  const ports = [...services.flatMap(({ label }) => gatewayPort(label) ?? []), ...inFolder];
  return [...new Set(ports)].filter((port) => !wanted.some((one) => one.port === port)).toSorted((a, b) => a - b);
}

function portOfFile(path: string): number | undefined {
  const anyFolder = `${gatewaysFolder.path}/`;
  const digits = path.startsWith(anyFolder) ? (path.slice(anyFolder.length).split('/')[0] ?? '') : '';
  return /^\d{1,5}$/.test(digits) ? Number(digits) : undefined;
}

const leftProperty = (port: number, target: ObservedTarget): Property => ({
  node: target.desired.name,
  ...gatewayAddress(port),
  desired: 'absent',
  observed: known('left over'),
  from: 'left over',
  to: 'removed',
  reason: 'no endpoint is published at this port',
});

interface Leaving {
  readonly port: number;
  /** The gateway's property, which changes after these steps. */
  readonly property: Property;
  /** Placements that it still serves but no longer should. */
  readonly names: readonly string[];
}

function reasonOf({ placements }: DesiredFleet, name: string): string {
  const moved = placements.find((one) => one.name === name && one.publication !== undefined);
  const [leader] = moved?.nodes ?? [];
  if (moved === undefined || leader === undefined) return 'it is no longer published here.';
  return `its endpoint has moved to port ${moved.endpointPort} of ${leader}.`;
}

/** Closes the lost placements and waits for their requests, before their gateway stops or reloads. */
function leavingSteps(
  { fleet, seen }: GatewayWork,
  { port, property, names }: Leaving,
  needs: readonly Step[],
): readonly Step[] {
  const closed = closedAt(port, seen);
  const closing = names
    .filter((name) => !closed.includes(name))
    .map((name) =>
      stepFor(`${stateAddress(port, name).address}/close`, closedAct(port, name, reasonOf(fleet, name)), {
        towards: [property],
        needs,
        deadlineMs: putDeadlineMs,
      }),
    );
  const draining = names.map((name) => {
    const act = scriptAct({ name: 'drain-endpoint', args: { port, placement: name, waitMs: drainMs } });
    return stepFor(`${stateAddress(port, name).address}/drain`, act, {
      towards: [property],
      needs: closing.length === 0 ? needs : closing,
      deadlineMs: drainMs + putDeadlineMs,
    });
  });
  return [...closing, ...draining];
}

const forgetSteps = ({ port, property, names }: Leaving, needs: readonly Step[]): readonly Step[] =>
  names.map((name) => {
    const act = scriptAct({ name: 'open-endpoint', args: { port, placement: name } });
    return stepFor(`${stateAddress(port, name).address}/forget`, act, {
      towards: [property],
      needs,
      deadlineMs: putDeadlineMs,
    });
  });

/** Deadline for everything that launchd waits for while it stops a gateway with requests in flight. */
const loadDeadlineMs = 90_000;
/** The longest time that an endpoint is down while its gateway restarts. */
const endingSeconds = 60;

const made = ({ makes }: GatewayWork, { address }: Addressed): Property | undefined =>
  makes.find((one) => one.address === address);

/** Closing comes first, because the mesh is stopped next; opening comes last. */
function wantedSteps(work: GatewayWork, wanted: WantedGateway): readonly Step[] {
  const stateSteps = (to: 'open' | 'closed', needs: readonly Step[]): readonly Step[] =>
    wanted.placements.flatMap(({ name }) => stateStep(work, { port: wanted.port, name }, to, needs));
  const closing = stateSteps('closed', []);
  const keys = readAgainSteps(work, wanted);
  const program = programSteps(work, wanted, keys);
  const last = program.length === 0 ? keys : program.slice(-1);
  return [...closing, ...keys, ...program, ...stateSteps('open', last)];
}

function programSteps(work: GatewayWork, wanted: WantedGateway, before: readonly Step[]): readonly Step[] {
  const { port } = wanted;
  const property = made(work, gatewayAddress(port));
  if (property === undefined) return [];
  const own = wanted.placements.map(({ name }) => name);
  const left: Leaving = { port, property, names: leavingAt(work.seen.services, port, own) };
  const leaving = leavingSteps(work, left, before);
  const first = leaving.length === 0 ? before : leaving;
  const { config, plist } = gatewayFiles(work.fleet, wanted);
  const files: readonly (readonly [name: string, path: NodePath, content: Text])[] = [
    ['config', gatewayConfig(port), config],
    ['plist', gatewayPlist(port), plist],
  ];
  const unlike = files.filter(([, path, content]) => !isAsWanted(work.seen.files, path, content));
  const puts: Step[] = [];
  for (const [name, path, content] of unlike) {
    const needs = puts.length === 0 ? first : puts.slice(-1);
    const rest = { towards: [property], needs, deadlineMs: putDeadlineMs };
    puts.push(stepFor(`${property.address}/put-${name}`, putAct(path, content), rest));
  }
  const act = scriptAct({
    name: 'load-gateway',
    args: {
      port,
      reload: unlike.length > 0 || isLoaded(work, port),
      isTaken: isTakenByRank(work, port),
      left: keyedAt(port, work.seen).filter((name) => !own.includes(name)),
      user: gatewayUser(work.fleet, work.target.desired) ?? '',
    },
  });
  const load = stepFor(`${property.address}/load`, act, {
    makes: [property],
    needs: puts.length === 0 ? first : puts.slice(-1),
    effect: endingEffect(work, port, own),
    deadlineMs: loadDeadlineMs,
  });
  return [...leaving, ...puts, load, ...forgetSteps(left, [load])];
}

/** Stopping a gateway cuts off requests that outlast its grace period, for every placement that it serves. */
function endingEffect({ seen }: GatewayWork, port: number, otherwise: readonly string[]): Effect {
  const service = seen.services.find(({ label }) => label === gatewayLabel(port));
  if (service === undefined || !mayRun(service)) return { kind: 'none' };
  const [placement, ...others] = service.behind ?? otherwise;
  if (placement === undefined) return { kind: 'none' };
  return { kind: 'interrupt', placement, ...(others.length === 0 ? {} : { others }), seconds: endingSeconds };
}

const isLoaded = ({ seen }: GatewayWork, port: number): boolean =>
  seen.services.some(({ label, state }) => label === gatewayLabel(port) && state !== 'not-loaded');

/** True if a rank still uses this port as its unpublished endpoint; its mesh restarts on another port afterwards. */
const isTakenByRank = ({ target: { facts } }: GatewayWork, port: number): boolean =>
  readValue(facts, placementsFact)?.some((one) => one.rank === 0 && one.endpointPort === port) === true;

function stateStep(
  work: GatewayWork,
  { port, name }: { readonly port: number; readonly name: string },
  to: 'open' | 'closed',
  needs: readonly Step[],
): readonly Step[] {
  const property = made(work, stateAddress(port, name));
  if (property?.desired !== to) return [];
  const [verb, act] =
    to === 'open'
      ? ['open', scriptAct({ name: 'open-endpoint', args: { port, placement: name } })]
      : ['close', closedAct(port, name, 'it is stopped.')];
  const rest = { makes: [property], needs, deadlineMs: putDeadlineMs };
  return [stepFor(`${property.address}/${verb}`, act, rest)];
}

function leftSteps(work: GatewayWork, wanted: readonly WantedGateway[], needs: readonly Step[]): readonly Step[] {
  return work.makes.flatMap((property) => {
    const { port, part } = property.about;
    if (port === undefined || part !== undefined || wanted.some((one) => one.port === port)) return [];
    const names = leavingAt(work.seen.services, port, []);
    const leaving = leavingSteps(work, { port, property, names }, needs);
    const closed = [...new Set([...closedAt(port, work.seen), ...names])].toSorted();
    const act = scriptAct({ name: 'remove-gateway', args: { port, closed, keyed: keyedAt(port, work.seen) } });
    const remove = stepFor(`${property.address}/remove`, act, {
      makes: [property],
      needs: leaving.length === 0 ? needs : leaving,
      effect: endingEffect(work, port, [`gateway-${port}`]),
      deadlineMs: loadDeadlineMs,
    });
    return [...leaving, remove];
  });
}

function nodeSteps(fleet: DesiredFleet, target: ObservedTarget, makes: readonly Property[]): readonly Step[] {
  const seen = gatewaysSeen(target);
  if (seen.kind === 'unknown') return [];
  const work: GatewayWork = { fleet, target, seen: seen.value, makes };
  const wanted = wantedGateways(fleet, target.desired.name);
  const steps = wanted.flatMap((one) => wantedSteps(work, one));
  // If a new gateway cannot be loaded, the old gateway remains.
  const loads = steps.filter(({ act }) => act.kind === 'script' && act.name === 'load-gateway');
  return [...steps, ...leftSteps(work, wanted, loads)];
}

/**
 * The API gateway of every published endpoint, on the leader: its process, its key hashes, and whether it accepts
 * requests. It neither changes a mesh nor waits for one: while a mesh is down, clients receive the reason.
 */
export const gateway: Resource = {
  kind,
  after: ['identity', 'sudo', 'accounts', 'runtime'],
  ...perTarget(gatewayProperties, nodeSteps),
  readings: gatewayReadings,
  notices: ({ desired }) =>
    desired.placements.flatMap((one) => {
      const detail = clearTextWords(one);
      const subject = placementSubject(one.name);
      return detail === undefined ? [] : [diagnose('endpoint/clear-text', { subject, detail })];
    }),
};
