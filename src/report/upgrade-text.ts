import type { UpdateState } from '../engine/diagnose/update-states.ts';
import type { DesiredFleet } from '../model/desired.ts';
import { alike, listText } from '../model/lists.ts';
import { everyNodeText, type NodeName } from '../model/node.ts';
import { updateText } from '../rack/macos/fact.ts';
import { hang, type Page } from './page.ts';

/** A unit with the state of each of its Macs. */
export interface UnitView {
  readonly nodes: readonly {
    readonly node: NodeName;
    readonly state: UpdateState;
    /** Set if FileVault is on, or on its way. */
    readonly hasFileVault?: true;
    /** Macs of one model get the same build. */
    readonly model?: string;
  }[];
  /** The placements that stop and start again. */
  readonly placements: readonly string[];
}

function stateText(to: string, state: UpdateState): string {
  switch (state.kind) {
    case 'done':
      return `already ${state.text}`;
    case 'installing':
      return `${state.from}, is installing ${state.label}`;
    case 'offered':
      return `${state.from} to ${updateText(state.update)}`;
    case 'by-hand':
      return `${state.from} to macOS ${to}`;
    case 'blocked':
      return 'cannot be updated';
  }
}

export const needsUpdate = ({ nodes }: UnitView): boolean => nodes.some(({ state }) => state.kind !== 'done');

/** What the upgrade does, unit by unit, and what it cannot undo. */
export function upgradeLines(to: string, units: readonly UnitView[], page: Page): readonly string[] {
  const listed = units.flatMap((unit, at) => {
    const states = alike(unit.nodes, ({ state }) => stateText(to, state)).map(
      ([{ state }, same]) => `${everyNodeText(same.map(({ node }) => node))}: ${stateText(to, state)}`,
    );
    const stops = needsUpdate(unit) && unit.placements.length > 0 ? `. Stops ${listText(unit.placements)}` : '';
    return hang(`${at + 1}. `, `${states.join('; ')}${stops}.`, page.columns);
  });
  return [`macOS ${to}, unit by unit:`, ...listed];
}

/** How the units follow each other. Cabled Macs and Macs that share a placement are one unit. */
export function orderText(units: readonly UnitView[], driver: DesiredFleet['macos']['updateDriver']): string {
  const program = typeof driver === 'object' ? ` ${driver.argv[0]} on this computer orders both.` : '';
  const first =
    driver === undefined
      ? 'A person installs the update; before that, the placements of the unit stop.'
      : `All Macs first download the update while they serve. Then, one unit after another, placements stop, the Macs install the update and restart.${program}`;
  const after = 'Settings that the update resets are put right, and the placements start again.';
  const alone =
    ' No unit tries the update first: Macs that are cabled or share a placement must run the same version, so they stop together.';
  const isRolled = units.filter(needsUpdate).length > 1;
  const next = isRolled
    ? ' The next unit follows only if they still return tokens after a minute.'
    : units.length === 1
      ? alone
      : '';
  return `${first} ${after}${next} An update cannot be undone: a downgrade erases the Mac.`;
}

/** @param locked the Macs that this run cannot unlock after their update */
export const lockText = (locked: readonly NodeName[]): string =>
  `FileVault: after the update, ${listText(locked)} ${locked.length === 1 ? 'stays' : 'stay'} locked until you enter the password, because this run cannot.`;

export const questionText = (to: string, units: readonly UnitView[]): string =>
  `Update ${everyNodeText(units.flatMap(({ nodes }) => nodes).flatMap(({ node, state }) => (state.kind === 'done' ? [] : node)))} to macOS ${to}?`;

/** One line per unit that is finished: `studio-1,2: macOS 26.7 (25G229); chat returned a token (12 min)`. */
export function unitText({ nodes, placements }: UnitView, took: string): string {
  const versions = alike(nodes, ({ state }) => (state.kind === 'done' ? state.text : ''))
    .map(([{ state }]) => (state.kind === 'done' ? state.text : ''))
    .join(', ');
  const serve = placements.length === 0 ? '' : `; ${listText(placements)} returned a token`;
  return `${everyNodeText(nodes.map(({ node }) => node))}: ${versions}${serve} (${took})`;
}

/**
 * What a person does at each Mac; the menu is where macOS 13 and later have it. Apple's names of the buttons change, so
 * the version decides.
 */
export function handsLines(to: string, { nodes }: UnitView, page: Page): readonly string[] {
  const left = nodes.flatMap(({ node, state }) => (state.kind === 'by-hand' ? [{ node, from: state.from }] : []));
  const clicks = [
    'Open the Apple menu > System Settings > General > Software Update, and wait until it has checked.',
    `If it shows macOS ${to}: click Update Now, or Upgrade Now for a new major version.`,
    `If it shows another version first: click More Info or (i) beside the other updates, select only macOS ${to}, and click Install Now.`,
    `If macOS ${to} is not there, install nothing. Beta Updates must be Off.`,
    "Enter the password of the Mac's owner. Click Restart Now if it asks, and wait until the login window is back.",
  ];
  return [
    `Manual steps: install macOS ${to} on`,
    ...left.map(({ node, from }) => `  ${node} (now ${from})`),
    'On each of these Macs:',
    ...clicks.flatMap((one, at) => hang(`${at + 1}. `, one, page.columns)),
  ];
}
