import { clearTextWords } from '../../../desired/endpoints.ts';
import { gatewayUser } from '../../../desired/layouts.ts';
import { diagnose } from '../../../diagnostics/diagnose.ts';
import type { DesiredFleet } from '../../../model/desired.ts';
import type { NodePath } from '../../../model/probe.ts';
import type { Effect, Step, Text } from '../../../model/step.ts';
import { type Addressed, placementSubject } from '../../../model/subject.ts';
import { closedFile, doormanConfig, doormanLabel, doormanPlist } from '../../../node/paths/own-paths.ts';
import { buildStep, scriptStep } from '../../build-step.ts';
import { readValue } from '../../fact.ts';
import { changedProperties, type ObservedTarget, type Property, type Resource } from '../../resource.ts';
import { placementsFact } from '../observed/fact.ts';
import { doorAddress, drainMs } from './doors.ts';
import { closedText } from './gateway-files.ts';
import {
  closedAt,
  type DoormenSight,
  doormanAddress,
  doormanProperties,
  doormenSeen,
  isAsWanted,
  keyedAt,
  keysSteps,
} from './gateway-properties.ts';
import { doormanFiles, doormenOn, type WantedDoorman } from './gateways.ts';
import { doormanSights, leavingAt } from './seen-doors.ts';

const closeDeadlineMs = 30_000;

/** A doorman of a node that is to lose placements. */
interface Leaving {
  readonly fleet: DesiredFleet;
  readonly seen: DoormenSight;
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
function leavingSteps({ fleet, seen, port, property, names }: Leaving, needs: readonly Step[]): readonly Step[] {
  const { node } = property;
  const about = { node, resource: 'doorman', towards: [property] } as const;
  const closed = closedAt(port, seen);
  const closing = names
    .filter((name) => !closed.includes(name))
    .map((name) =>
      buildStep({
        ...about,
        name: `${doorAddress(port, name).address}/close`,
        class: 'converge',
        act: { kind: 'put', path: closedFile(port, name), mode: 0o644, content: closedText(reasonOf(fleet, name)) },
        needs,
        deadlineMs: closeDeadlineMs,
      }),
    );
  const draining = names.map((name) =>
    scriptStep({
      ...about,
      name: `${doorAddress(port, name).address}/drain`,
      call: { name: 'drain-door', args: { port, placement: name, waitMs: drainMs } },
      needs: closing.length === 0 ? needs : closing,
      deadlineMs: drainMs + closeDeadlineMs,
    }),
  );
  return [...closing, ...draining];
}

/** Takes away what has kept doors closed that a doorman does not have any more. */
const forgottenDoors = ({ port, property, names }: Leaving, needs: readonly Step[]): readonly Step[] =>
  names.map((name) =>
    scriptStep({
      node: property.node,
      resource: 'doorman',
      towards: [property],
      name: `${doorAddress(port, name).address}/forget`,
      call: { name: 'open-door', args: { port, placement: name } },
      needs,
      deadlineMs: closeDeadlineMs,
    }),
  );

/** For everything that launchd waits for when a doorman with requests inside is to end. */
const loadDeadlineMs = 90_000;
const putDeadlineMs = 30_000;

/** How long an endpoint is away at the most while its doorman ends and comes back. */
const endingSeconds = 60;

const kind = 'doorman';

/** What clients are told of a placement that the file wants stopped. */
const stoppedReason = 'it is stopped.';

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
  const closing = wanted.placements.flatMap(({ name }) => doorStep(work, { port: wanted.port, name }, 'closed', []));
  const keys = keysSteps(wanted, work.makes);
  const program = programSteps(work, wanted, keys);
  const last = program.length === 0 ? keys : program.slice(-1);
  const opening = wanted.placements.flatMap(({ name }) => doorStep(work, { port: wanted.port, name }, 'open', last));
  return [...closing, ...keys, ...program, ...opening];
}

function programSteps(work: Work, wanted: WantedDoorman, before: readonly Step[]): readonly Step[] {
  const { port } = wanted;
  const property = made(work, doormanAddress(port));
  if (property === undefined) return [];
  const own = wanted.placements.map(({ name }) => name);
  const left: Leaving = { ...work, port, property, names: leavingAt(work.seen.services, port, own) };
  const leaving = leavingSteps(left, before);
  const first = leaving.length === 0 ? before : leaving;
  const { config, plist } = doormanFiles(work.fleet, wanted);
  const files: readonly (readonly [name: string, path: NodePath, content: Text])[] = [
    ['config', doormanConfig(port), config],
    ['plist', doormanPlist(port), plist],
  ];
  const unlike = files.filter(([, path, content]) => !isAsWanted(work.seen.files, path, content));
  const { node, address } = property;
  const puts: Step[] = [];
  for (const [name, path, content] of unlike) {
    puts.push(
      buildStep({
        node,
        resource: kind,
        name: `${address}/put-${name}`,
        class: 'converge',
        act: { kind: 'put', path, mode: 0o644, content },
        towards: [property],
        needs: puts.length === 0 ? first : puts.slice(-1),
        deadlineMs: putDeadlineMs,
      }),
    );
  }
  const load = scriptStep({
    node,
    resource: kind,
    name: `${address}/load`,
    call: {
      name: 'load-doorman',
      args: {
        port,
        reload: unlike.length > 0 || isLoaded(work, port),
        isTaken: isTakenByRank(work, port),
        left: keyedAt(port, work.seen).filter((name) => !own.includes(name)),
        user: gatewayUser(work.fleet, work.target.desired) ?? '',
      },
    },
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
  const { node, address } = property;
  const about = { node, resource: kind, makes: [property], needs, deadlineMs: putDeadlineMs } as const;
  if (to === 'open') {
    const call = { name: 'open-door', args: { port, placement: name } } as const;
    return [scriptStep({ ...about, name: `${address}/open`, call })];
  }
  const act = { kind: 'put', path: closedFile(port, name), mode: 0o644, content: closedText(stoppedReason) } as const;
  return [buildStep({ ...about, name: `${address}/close`, class: 'converge', act })];
}

function leftSteps(work: Work, wanted: readonly WantedDoorman[], needs: readonly Step[]): readonly Step[] {
  return work.makes.flatMap((property) => {
    const { port, part } = property.about;
    if (port === undefined || part !== undefined || wanted.some((one) => one.port === port)) return [];
    const names = leavingAt(work.seen.services, port, []);
    const leaving = leavingSteps({ ...work, port, property, names }, needs);
    const closed = [...new Set([...closedAt(port, work.seen), ...names])].toSorted();
    return [
      ...leaving,
      scriptStep({
        node: property.node,
        resource: kind,
        name: `${property.address}/remove`,
        call: { name: 'remove-doorman', args: { port, closed, keyed: keyedAt(port, work.seen) } },
        makes: [property],
        needs: leaving.length === 0 ? needs : leaving,
        effect: endingEffect(work, port, [`doorman-${port}`]),
        deadlineMs: loadDeadlineMs,
      }),
    ];
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
  blockers: () => [],
  notices: ({ desired }) =>
    desired.placements.flatMap((one) => {
      const detail = clearTextWords(one);
      return detail === undefined
        ? []
        : [diagnose('endpoint/clear-text', { subject: placementSubject(one.name), detail })];
    }),
};
