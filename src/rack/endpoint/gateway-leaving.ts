import type { DesiredFleet } from '../../model/desired.ts';
import type { Step } from '../../model/step.ts';
import { closedFile } from '../../node/paths/own-paths.ts';
import { buildStep, scriptStep } from '../build-step.ts';
import { doorAddress, drainMs } from '../placement/doors/doors.ts';
import { closedText } from '../placement/doors/gateway-files.ts';
import type { Property } from '../resource.ts';
import { closedAt, type DoormenSight } from './gateway-properties.ts';

const putDeadlineMs = 30_000;

/** A doorman of a node that is to lose placements. */
export interface Leaving {
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
export function leavingSteps({ fleet, seen, port, property, names }: Leaving, needs: readonly Step[]): readonly Step[] {
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
        deadlineMs: putDeadlineMs,
      }),
    );
  const draining = names.map((name) =>
    scriptStep({
      ...about,
      name: `${doorAddress(port, name).address}/drain`,
      call: { name: 'drain-door', args: { port, placement: name, waitMs: drainMs } },
      needs: closing.length === 0 ? needs : closing,
      deadlineMs: drainMs + putDeadlineMs,
    }),
  );
  return [...closing, ...draining];
}

/** Takes away what has kept doors closed that a doorman does not have any more. */
export const forgottenDoors = ({ port, property, names }: Leaving, needs: readonly Step[]): readonly Step[] =>
  names.map((name) =>
    scriptStep({
      node: property.node,
      resource: 'doorman',
      towards: [property],
      name: `${doorAddress(port, name).address}/forget`,
      call: { name: 'open-door', args: { port, placement: name } },
      needs,
      deadlineMs: putDeadlineMs,
    }),
  );
