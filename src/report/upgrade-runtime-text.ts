import { listText } from '../model/lists.ts';
import { everyNodeText, type NodeName } from '../model/node.ts';
import { hang, type Page } from './page.ts';

/** A unit of a runtime's upgrade. */
export interface RuntimeUnit {
  readonly nodes: readonly NodeName[];
  /** The placements that the file sets to serving. */
  readonly placements: readonly string[];
  /** False if it already runs the version. */
  readonly isPending: boolean;
  /** The placements over RDMA that start over TCP first. */
  readonly overTcp: readonly string[];
  /** Why the unit does not take part. */
  readonly leftOut?: string;
}

export interface RuntimeUpgrade {
  readonly name: string;
  /** Versions in words; `from` is undefined if no older version is known. */
  readonly from: string | undefined;
  readonly to: string;
  readonly units: readonly RuntimeUnit[];
}

/** What the upgrade does, unit by unit. */
export const runtimeUpgradeLines = ({ name, from, to, units }: RuntimeUpgrade, page: Page): readonly string[] => [
  ...hang('', `${name} ${from === undefined ? '' : `${from} -> `}${to}, unit by unit:`, page.columns),
  ...units.flatMap((unit, at) =>
    hang(`${at + 1}. `, `${everyNodeText(unit.nodes)}: ${unitText(unit, to)}.`, page.columns),
  ),
];

function unitText({ placements, isPending, overTcp, leftOut }: RuntimeUnit, to: string): string {
  if (leftOut !== undefined) return `left out: ${leftOut}`;
  const has = isPending ? '' : `already has ${to}; `;
  const names = listText(placements);
  if (placements.length === 0) return `${has}nothing serves here`;
  const tcp =
    overTcp.length === 0
      ? ''
      : `${overTcp.length < placements.length ? `, ${listText(overTcp)} twice,` : ' twice,'} first over TCP`;
  return isPending
    ? `restarts ${names}${tcp}`
    : `${has}${names} ${placements.length === 1 ? 'is' : 'are'} checked again`;
}

/** How the units follow each other, and what happens if one fails. */
export function runtimeOrderText({ from, units }: RuntimeUpgrade): string {
  const proofs = units.filter(({ placements, leftOut }) => placements.length > 0 && leftOut === undefined);
  const back =
    from === undefined
      ? 'the upgrade ends there, because no older version is known'
      : `every unit goes back to ${from}`;
  const first = 'All Macs first install the new version while they serve.';
  const overTcp = proofs.flatMap((unit) => unit.overTcp);
  const [start, them] = overTcp.length === 1 ? ['starts', 'it'] : ['start', 'them'];
  const tcp =
    overTcp.length === 0
      ? ''
      : ` ${listText(overTcp)} first ${start} over TCP, where a hang needs no reboot; after a token, a second restart brings ${them} back to RDMA.`;
  if (proofs.length > 1)
    return `${first} Then one unit after another restarts. The next one follows only if the placements return tokens for a minute; otherwise ${back}. The first unit is the canary.${tcp}`;
  if (proofs.length === 0) return first;
  const only = units.every(({ leftOut }) => leftOut === undefined)
    ? 'There is only one unit, so there is no canary: everything stops at once.'
    : 'Only one unit takes part, so there is no canary.';
  return `${first} Then the unit restarts, and its placements must return tokens for a minute; otherwise ${back}. ${only}${tcp}`;
}
