import { clearTextWords } from '../../../desired/endpoints.ts';
import { gatewayUser } from '../../../desired/layouts.ts';
import { diagnose } from '../../../diagnostics/diagnose.ts';
import type { DesiredFleet } from '../../../model/desired.ts';
import { shortDigest } from '../../../model/digest.ts';
import type { LaunchdService } from '../../../model/facts/daemons.ts';
import type { KeptFile } from '../../../model/facts/fact-values.ts';
import { andThen, type Known, known, mapKnown, seenValue, unknown } from '../../../model/known.ts';
import { oncePer } from '../../../model/lists.ts';
import type { NodePath } from '../../../model/probe.ts';
import type { Act, Effect, Step, Text } from '../../../model/step.ts';
import { type Addressed, addressed, placementSubject } from '../../../model/subject.ts';
import {
  closedFolder,
  doormanConfig,
  doormanKeysFile,
  doormanLabel,
  doormanPlist,
  doormanPort,
  doormenFolder,
  keysFolder,
} from '../../../node/paths/own-paths.ts';
import { textDigest } from '../../../node/put-file.ts';
import { buildStep, type StepParts } from '../../build-step.ts';
import { read, readValue } from '../../fact.ts';
import { filesFact } from '../../records/files-fact.ts';
import { doormenFact } from '../../records/gateways-fact.ts';
import { servicesFact } from '../../records/services-fact.ts';
import { changedProperties, type ObservedTarget, type Property, type Resource, type View } from '../../resource.ts';
import { knownWords } from '../../seen-fact.ts';
import { scriptAct } from '../members.ts';
import { placementsFact } from '../observed/fact.ts';
import { doorsOf, everyCase, type PlacementCase } from '../state/placement-cases.ts';
import { closedAct, type Door, doorAddress, drainMs } from './doors.ts';
import { doormanFiles, doormenOn, type PublishedPlacement, type WantedDoorman, wantedKeys } from './gateways.ts';
import { doormanSights, isClosed, leavingAt } from './seen-doors.ts';

/**
 * What keeps the doors of a placement from being opened apart from its mesh: its start, which opens these behind its token,
 * or that it is unknown whether anything serves behind them; undefined where nothing does. One that goes on on its fallback
 * is judged there; one that is moved back has its doors opened by that move.
 */
function awaitedOf({ elsewhere, ...own }: PlacementCase, { staying }: View): readonly Door[] | 'unknown' | undefined {
  if (elsewhere !== undefined && !staying.includes(own.placement.name)) return doorsOf(own);
  const one = elsewhere ?? own;
  if (one.mesh.state === 'serving') return undefined;
  return one.mesh.state === 'unknown' ? 'unknown' : doorsOf(one);
}

/** A run limited to some nodes leaves a placement alone that it cannot judge, but its closed door all the same is not opened. */
const allAwaited = oncePer(
  (view: View): ReadonlyMap<string, ReturnType<typeof awaitedOf>> =>
    new Map(
      everyCase(view)
        .filter(({ placement }) => placement.state === 'serving')
        .map((one) => [one.placement.name, awaitedOf(one, view)]),
    ),
);

/** Whether each door of a doorman is open or closed, but for those that a start of their placement opens. */
function doorProperties(view: View, { port, placements }: WantedDoorman, target: ObservedTarget): readonly Property[] {
  const awaited = allAwaited(view);
  return placements.flatMap((placement) => {
    const kept = awaited.get(placement.name);
    const property = doorProperty(port, placement, target);
    if (kept === 'unknown') return unlessClosed(property, placement.name);
    return kept?.some((door) => door.leader === property.node && door.port === port) === true ? [] : property;
  });
}

function doorProperty(port: number, { name, state }: PublishedPlacement, target: ObservedTarget): Property {
  const observed = mapKnown(isClosed(target, port, name), (closed) => (closed ? 'closed' : 'open'));
  const to = state === 'stopped' ? 'closed' : 'open';
  return {
    node: target.desired.name,
    ...doorAddress(port, name),
    desired: to,
    observed,
    from: knownWords(observed, (value) => value),
    to,
    reason: `placements.${name}.state: ${state}`,
    after: ['identity', 'sudo'],
  };
}

/** A closed door waits where nothing may be behind it. */
function unlessClosed(property: Property, placement: string): Property {
  const { observed } = property;
  if (observed.kind === 'unknown' || observed.value === 'open') return property;
  const why = `it is closed, and nobody could tell whether ${placement} serves`;
  return { ...property, observed: unknown('failed', why), why };
}

/** For a file that is put, and for what follows from it at once. */
const putDeadlineMs = 30_000;

const kind = 'doorman';

/** A step for a property of a doorman. */
const stepFor = (
  { node }: Property,
  name: string,
  act: Act,
  rest: Pick<StepParts, 'makes' | 'towards' | 'needs' | 'effect' | 'deadlineMs'>,
): Step => buildStep({ node, resource: kind, name, class: 'converge', act, ...rest });

const putAct = (path: NodePath, content: Text): Act => ({ kind: 'put', path, mode: 0o644, content });

/** The address of the key file of a placement. */
const keysAddress = (port: number, placement: string): Addressed =>
  addressed({ kind: 'doorman', port, placement, part: 'keys' });

const keysWords: Readonly<Record<string, string>> = { absent: 'not there', changed: 'not as the file wants it' };

/**
 * The key file of a placement. A key that cannot be read leaves that one file as it is, since its hash
 * may be among those there, and no other. Nothing where the keys were not read: a verb that only stops or
 * starts what was applied needs none.
 */
function keysProperty(target: ObservedTarget, port: number, placement: PublishedPlacement): readonly Property[] {
  const keys = wantedKeys(placement);
  if (keys === undefined) return [];
  const { name } = placement;
  const about = {
    node: target.desired.name,
    ...keysAddress(port, name),
    to: 'the keys of the file',
    reason: `placements.${name}.endpoint.apiKey`,
  };
  if (keys.kind === 'unknown') {
    const from = knownWords(keys, () => '');
    return [{ ...about, desired: 'unknown', observed: keys, from, why: keys.detail }];
  }
  const desired = shortDigest(textDigest(keys.value));
  const observed = mapKnown(doormenSeen(target), (kept) => keyStateOf(kept, port, name));
  const from = knownWords(observed, (value) => (value === desired ? 'as wanted' : (keysWords[value] ?? 'other keys')));
  return [{ ...about, desired, observed, from }];
}

function keyStateOf({ files }: DoormenSight, port: number, placement: string): string {
  const { path } = doormanKeysFile(port, placement);
  const kept = files.find((one) => one.path === path);
  if (kept === undefined || kept.state === 'missing') return 'absent';
  return kept.state === 'intact' ? kept.digest.slice(0, 16) : kept.state;
}

/** Puts each key file that is to be another one; none of them waits for another. */
function keysSteps({ port, placements }: WantedDoorman, makes: readonly Property[]): readonly Step[] {
  return placements.flatMap((placement) => {
    const property = makes.find(({ address }) => address === keysAddress(port, placement.name).address);
    const keys = wantedKeys(placement);
    if (property === undefined || keys?.kind !== 'known') return [];
    const path = doormanKeysFile(port, placement.name);
    return [
      stepFor(property, `${property.address}/put`, putAct(path, keys.value), {
        makes: [property],
        deadlineMs: putDeadlineMs,
      }),
    ];
  });
}

/** Placements for which a key file lies at a doorman, whether they are behind it or not. */
const keyedAt = (port: number, seen: DoormenSight): readonly string[] => namesIn(keysFolder(port), seen);

/** Placements that a doorman keeps closed. */
const closedAt = (port: number, seen: DoormenSight): readonly string[] => namesIn(closedFolder(port), seen);

const namesIn = ({ path: folder }: NodePath, { files }: DoormenSight): readonly string[] =>
  files.flatMap(({ path }) => (path.startsWith(`${folder}/`) ? [path.slice(folder.length + 1)] : [])).toSorted();

/** The address of the doorman at a port. */
export const doormanAddress = (port: number): Addressed => addressed({ kind: 'doorman', port });

/** What is seen of all doormen of a node. */
interface DoormenSight {
  readonly files: readonly KeptFile[];
  readonly services: readonly LaunchdService[];
}

/** What is seen of the doormen of a node; unknown where its files or its services are. */
const doormenSeen = ({ facts }: ObservedTarget): Known<DoormenSight> =>
  andThen(read(facts, filesFact), (files) => mapKnown(read(facts, servicesFact), (services) => ({ files, services })));

/** Every property of the doormen of one node. */
function doormanProperties(view: View, target: ObservedTarget): readonly Property[] {
  const fleet = view.desired;
  const wanted = doormenOn(fleet, target.desired.name);
  return [
    ...wanted.flatMap((one) => [
      programProperty(fleet, one, target),
      ...one.placements.flatMap((placement) => keysProperty(target, one.port, placement)),
      ...doorProperties(view, one, target),
    ]),
    ...leftPorts(wanted, target).map((port) => leftProperty(port, target)),
  ];
}

const stateWords: Readonly<Record<string, string>> = {
  absent: 'not there',
  changed: 'not as the file wants it',
  stopped: 'does not run',
  'not-listening': 'not listening',
};

const words = (value: string): string => stateWords[value] ?? `version ${value}`;

/** Whether a file lies there, whole, as it is to be. */
const isAsWanted = (files: readonly KeptFile[], path: NodePath, content: Text): boolean =>
  files.some((one) => one.path === path.path && one.state === 'intact' && one.digest === textDigest(content));

function programProperty(fleet: DesiredFleet, wanted: WantedDoorman, target: ObservedTarget): Property {
  const { config, plist, version } = doormanFiles(fleet, wanted);
  const { port } = wanted;
  const seen = doormenSeen(target);
  const names = wanted.placements.map(({ name }) => name);
  const observed = andThen(seen, ({ files, services }): Known<string> => {
    const service = services.find(({ label }) => label === doormanLabel(port));
    if (!hasFiles(files, port) && service === undefined) return known('absent');
    const isWhole = isAsWanted(files, doormanConfig(port), config) && isAsWanted(files, doormanPlist(port), plist);
    if (!isWhole) return known('changed');
    if (service?.state !== 'running') return known('stopped');
    const { behind } = service;
    if (names.some((name) => behind?.includes(name) === false)) return known('not-listening');
    // Its files may have been put by a run that ended before it loaded them.
    const isOther = behind?.some((name) => !names.includes(name)) === true || !isOfVersion(version, port, target);
    if (isOther) return known('changed');
    return behind === undefined
      ? unknown('failed', `Nobody could tell whether the doorman listens on port ${port}.`)
      : known(version);
  });
  return {
    node: target.desired.name,
    ...doormanAddress(port),
    desired: version,
    observed,
    from: knownWords(observed, words),
    to: words(version),
    reason: `endpoint of ${names.join(', ')}: listen: lan`,
    ...(seen.kind === 'known' && observed.kind === 'unknown' && { why: observed.detail }),
  };
}

/** Whether the process at a port was started with these files, as far as it was heard; an older doorman does not say it. */
function isOfVersion(version: string, port: number, { facts }: ObservedTarget): boolean {
  const said = readValue(facts, doormenFact)?.find((one) => one.port === port);
  return said?.kind !== 'answered' || said.version === version;
}

const hasFiles = (files: readonly KeptFile[], port: number): boolean => {
  const own = [doormanPlist(port), doormanConfig(port)].map(({ path }) => path);
  return files.some(({ path, state }) => own.includes(path) && state !== 'missing');
};

/** Ports at which a doorman of an earlier file stands. */
function leftPorts(wanted: readonly WantedDoorman[], target: ObservedTarget): readonly number[] {
  const { services, files } = seenValue(doormenSeen(target)) ?? { services: [], files: [] };
  const inFolder = files.flatMap(({ path, state }) => (state === 'missing' ? [] : (portOfFile(path) ?? [])));
  const ports = [...services.flatMap(({ label }) => doormanPort(label) ?? []), ...inFolder];
  return [...new Set(ports)].filter((port) => !wanted.some((one) => one.port === port)).toSorted((a, b) => a - b);
}

function portOfFile(path: string): number | undefined {
  const anyFolder = `${doormenFolder.path}/`;
  const digits = path.startsWith(anyFolder) ? (path.slice(anyFolder.length).split('/')[0] ?? '') : '';
  return /^\d{1,5}$/.test(digits) ? Number(digits) : undefined;
}

const leftProperty = (port: number, target: ObservedTarget): Property => ({
  node: target.desired.name,
  ...doormanAddress(port),
  desired: 'absent',
  observed: known('left over'),
  from: 'left over',
  to: 'not there',
  reason: 'no endpoint of this port is published',
});

/** A doorman of a node that is to lose placements. */
interface Leaving {
  readonly port: number;
  /** The property of the doorman, which is changed behind these steps. */
  readonly property: Property;
  /** Placements that are behind it and are not to be any more. */
  readonly names: readonly string[];
}

/** What clients are told at a door that is left. */
function reasonOf({ placements }: DesiredFleet, name: string): string {
  const moved = placements.find((one) => one.name === name && one.publication !== undefined);
  const [leader] = moved?.nodes ?? [];
  if (moved === undefined || leader === undefined) return 'it is not published here any more.';
  return `its endpoint has moved to port ${moved.endpointPort} of ${leader}.`;
}

/** Closes the doors that are left and waits for those inside, as a stop does, before their doorman is ended or told anew. */
function leavingSteps(
  { fleet, seen }: Work,
  { port, property, names }: Leaving,
  needs: readonly Step[],
): readonly Step[] {
  const closed = closedAt(port, seen);
  const closing = names
    .filter((name) => !closed.includes(name))
    .map((name) =>
      stepFor(property, `${doorAddress(port, name).address}/close`, closedAct(port, name, reasonOf(fleet, name)), {
        towards: [property],
        needs,
        deadlineMs: putDeadlineMs,
      }),
    );
  const draining = names.map((name) => {
    const act = scriptAct({ name: 'drain-door', args: { port, placement: name, waitMs: drainMs } });
    return stepFor(property, `${doorAddress(port, name).address}/drain`, act, {
      towards: [property],
      needs: closing.length === 0 ? needs : closing,
      deadlineMs: drainMs + putDeadlineMs,
    });
  });
  return [...closing, ...draining];
}

/** Takes away what has kept doors closed that a doorman does not have any more. */
const forgottenDoors = ({ port, property, names }: Leaving, needs: readonly Step[]): readonly Step[] =>
  names.map((name) => {
    const act = scriptAct({ name: 'open-door', args: { port, placement: name } });
    return stepFor(property, `${doorAddress(port, name).address}/forget`, act, {
      towards: [property],
      needs,
      deadlineMs: putDeadlineMs,
    });
  });

/** For everything that launchd waits for when a doorman with requests inside is to end. */
const loadDeadlineMs = 90_000;
/** How long an endpoint is away at the most while its doorman ends and comes back. */
const endingSeconds = 60;

interface Work {
  readonly fleet: DesiredFleet;
  readonly target: ObservedTarget;
  readonly seen: DoormenSight;
  readonly makes: readonly Property[];
}

const made = ({ makes }: Work, { address }: Addressed): Property | undefined =>
  makes.find((one) => one.address === address);

/** Closing comes before anything else of the doorman, since a stop of the mesh follows; opening comes last. */
function wantedSteps(work: Work, wanted: WantedDoorman): readonly Step[] {
  const doors = (to: 'open' | 'closed', needs: readonly Step[]): readonly Step[] =>
    wanted.placements.flatMap(({ name }) => doorStep(work, { port: wanted.port, name }, to, needs));
  const closing = doors('closed', []);
  const keys = keysSteps(wanted, work.makes);
  const program = programSteps(work, wanted, keys);
  const last = program.length === 0 ? keys : program.slice(-1);
  return [...closing, ...keys, ...program, ...doors('open', last)];
}

function programSteps(work: Work, wanted: WantedDoorman, before: readonly Step[]): readonly Step[] {
  const { port } = wanted;
  const property = made(work, doormanAddress(port));
  if (property === undefined) return [];
  const own = wanted.placements.map(({ name }) => name);
  const left: Leaving = { port, property, names: leavingAt(work.seen.services, port, own) };
  const leaving = leavingSteps(work, left, before);
  const first = leaving.length === 0 ? before : leaving;
  const { config, plist } = doormanFiles(work.fleet, wanted);
  const files: readonly (readonly [name: string, path: NodePath, content: Text])[] = [
    ['config', doormanConfig(port), config],
    ['plist', doormanPlist(port), plist],
  ];
  const unlike = files.filter(([, path, content]) => !isAsWanted(work.seen.files, path, content));
  const puts: Step[] = [];
  for (const [name, path, content] of unlike) {
    const needs = puts.length === 0 ? first : puts.slice(-1);
    const rest = { towards: [property], needs, deadlineMs: putDeadlineMs };
    puts.push(stepFor(property, `${property.address}/put-${name}`, putAct(path, content), rest));
  }
  const act = scriptAct({
    name: 'load-doorman',
    args: {
      port,
      reload: unlike.length > 0 || isLoaded(work, port),
      isTaken: isTakenByRank(work, port),
      left: keyedAt(port, work.seen).filter((name) => !own.includes(name)),
      user: gatewayUser(work.fleet, work.target.desired) ?? '',
    },
  });
  const load = stepFor(property, `${property.address}/load`, act, {
    makes: [property],
    needs: puts.length === 0 ? first : puts.slice(-1),
    effect: endingEffect(work, port, own),
    deadlineMs: loadDeadlineMs,
  });
  return [...leaving, ...puts, load, ...forgottenDoors(left, [load])];
}

/** A doorman that is ended cuts off what takes longer than its time of grace, of every placement that it serves. */
function endingEffect({ seen }: Work, port: number, otherwise: readonly string[]): Effect {
  const service = seen.services.find(({ label }) => label === doormanLabel(port));
  if (service?.state !== 'running') return { kind: 'none' };
  const [placement, ...others] = service.behind ?? otherwise;
  if (placement === undefined) return { kind: 'none' };
  return { kind: 'interrupt', placement, ...(others.length === 0 ? {} : { others }), seconds: endingSeconds };
}

const isLoaded = ({ seen }: Work, port: number): boolean =>
  seen.services.some(({ label, state }) => label === doormanLabel(port) && state !== 'not-loaded');

/** An endpoint that only its node reached stood at this port; its mesh is started anew at another one after this. */
const isTakenByRank = ({ target: { facts } }: Work, port: number): boolean =>
  readValue(facts, placementsFact)?.some((one) => one.rank === 0 && one.endpointPort === port) === true;

function doorStep(
  work: Work,
  { port, name }: { readonly port: number; readonly name: string },
  to: 'open' | 'closed',
  needs: readonly Step[],
): readonly Step[] {
  const property = made(work, doorAddress(port, name));
  if (property?.desired !== to) return [];
  const [verb, act] =
    to === 'open'
      ? ['open', scriptAct({ name: 'open-door', args: { port, placement: name } })]
      : ['close', closedAct(port, name, 'it is stopped.')];
  const rest = { makes: [property], needs, deadlineMs: putDeadlineMs };
  return [stepFor(property, `${property.address}/${verb}`, act, rest)];
}

function leftSteps(work: Work, wanted: readonly WantedDoorman[], needs: readonly Step[]): readonly Step[] {
  return work.makes.flatMap((property) => {
    const { port, part } = property.about;
    if (port === undefined || part !== undefined || wanted.some((one) => one.port === port)) return [];
    const names = leavingAt(work.seen.services, port, []);
    const leaving = leavingSteps(work, { port, property, names }, needs);
    const closed = [...new Set([...closedAt(port, work.seen), ...names])].toSorted();
    const act = scriptAct({ name: 'remove-doorman', args: { port, closed, keyed: keyedAt(port, work.seen) } });
    const remove = stepFor(property, `${property.address}/remove`, act, {
      makes: [property],
      needs: leaving.length === 0 ? needs : leaving,
      effect: endingEffect(work, port, [`doorman-${port}`]),
      deadlineMs: loadDeadlineMs,
    });
    return [...leaving, remove];
  });
}

function nodeSteps(fleet: DesiredFleet, target: ObservedTarget, makes: readonly Property[]): readonly Step[] {
  const seen = doormenSeen(target);
  if (makes.length === 0 || seen.kind === 'unknown') return [];
  const work: Work = { fleet, target, seen: seen.value, makes };
  const wanted = doormenOn(fleet, target.desired.name);
  const steps = wanted.flatMap((one) => wantedSteps(work, one));
  // A door that cannot be opened is no reason to close the one that it stands for.
  const loads = steps.filter(({ act }) => act.kind === 'script' && act.name === 'load-doorman');
  return [...steps, ...leftSteps(work, wanted, loads)];
}

/**
 * The process before every published endpoint, on the leader, with the hashes of its keys and whether it lets requests
 * in. A mesh is not touched by it, nor does it wait for one: what is down is told to clients.
 */
export const doorman: Resource = {
  kind,
  after: ['identity', 'sudo', 'accounts', 'runtime'],
  properties: (view) => view.targets.flatMap((target) => doormanProperties(view, target)),
  sights: doormanSights,
  steps: (changes, view) => ({
    steps: view.targets.flatMap((target) =>
      nodeSteps(view.desired, target, changedProperties(changes, doormanProperties(view, target))),
    ),
  }),
  notices: ({ desired }) =>
    desired.placements.flatMap((one) => {
      const detail = clearTextWords(one);
      return detail === undefined
        ? []
        : [diagnose('endpoint/clear-text', { subject: placementSubject(one.name), detail })];
    }),
};
