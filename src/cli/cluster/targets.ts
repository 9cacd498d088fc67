import { choicesAmong, didYouMean } from '../../desired/did-you-mean.ts';
import { nameInFile, placementNamesFor, placementsFor } from '../../desired/replicas.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { TokenRequest } from '../../drivers/contract/driver.ts';
import { driverOf } from '../../drivers/registry.ts';
import type { DesiredFleet, DesiredNode, DesiredPlacement } from '../../model/desired.ts';
import { listText } from '../../model/lists.ts';
import { nodeSubject, placementSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { named, prose } from '../../model/text/prose.ts';
import { readRun } from '../../sim/hosts/control/run-folder.ts';
import { simFolder } from '../files/places.ts';
import { fleetAsItRuns } from '../ranks/where-they-run.ts';
import { type Run, usageError } from '../verb.ts';
import { refuseAny, targetedNodes } from './open-cluster.ts';
import type { SettledCluster } from './settle-cluster.ts';
import { openTargets } from './ssh-targets.ts';

/** The placements among which a command's arguments are looked up. */
export interface NamedIn {
  /** The fleet with the applied placements for a command that acts, otherwise with the file's placements. */
  readonly fleet: DesiredFleet;
  /** The file's fleet, if `fleet` contains only the applied placements. */
  readonly declared?: DesiredFleet;
  /** True if a simulated fleet is running for the same file, but this run is for the real Macs. */
  readonly isRehearsed?: boolean;
}

/** The applied placements, with the information that explains why a name can be missing among them. */
export async function amongApplied(run: Run, { fleet, opened }: SettledCluster): Promise<NamedIn> {
  const isReal = run.options.sim !== true;
  const isRehearsed = isReal && (await readRun(simFolder(run.env, opened.path))).kind === 'live';
  return { fleet, declared: opened.fleet, isRehearsed };
}

/**
 * The placements selected by the arguments or `--all`, in fleet order.
 * @throws FleetError `cli/usage` if none is named, `select/unknown-placement` with a suggestion, `select/never-applied`
 * for a placement that has not been applied yet
 */
export function namedPlacements(run: Run, among: NamedIn): readonly DesiredPlacement[] {
  const { fleet, declared = fleet } = among;
  const isForAll = wantsAll(run, 'Placement');
  if (!isForAll && run.words.length === 0) {
    throw usageError('No placement was specified.', whatThereIs(declared, 'Name placements', ', or add --all'));
  }
  const words = isForAll && fleet.placements.length === 0 ? declared.placements.map(({ name }) => name) : run.words;
  refuseAny(words.flatMap((word) => unknownPlacement(word, among, ', or add --all')));
  const names = placementNamesFor(run.words, fleet);
  const named = fleet.placements.filter(({ name }) => isForAll || names.includes(name));
  if (named.length === 0) throw usageError('The file has no placements.', prose`See: ${meshwright('plan')}`);
  return named;
}

/** True if `--all` was given. @throws FleetError `cli/usage` if there are also names */
export function wantsAll({ own, words }: Pick<Run, 'own' | 'words'>, what: string): boolean {
  if (own['all'] !== true || words.length === 0) return own['all'] === true;
  throw usageError(`${what} names and --all cannot be combined.`, 'Leave out one of them.');
}

/**
 * The placement with this name, or all its replicas in the file's order.
 * @throws FleetError `select/unknown-placement`, `select/never-applied`
 */
export function placementsNamed(among: NamedIn, word: string): readonly [DesiredPlacement, ...DesiredPlacement[]] {
  refuseAny(unknownPlacement(word, among, ''));
  const [first, ...others] = placementsFor(word, among.fleet);
  if (first === undefined) throw new Error(`placement ${word} was found by the check but does not exist`);
  return [first, ...others];
}

/** The runtime, model and leader of a placement. Validation guarantees that all three exist. */
export function partsOf({ nodes, runtimes, models }: DesiredFleet, placement: DesiredPlacement) {
  const runtime = runtimes.find(({ name }) => name === placement.runtime);
  const model = models.find(({ name }) => name === placement.model);
  const leader = nodes.find(({ name }) => name === placement.nodes[0]);
  if (runtime !== undefined && model !== undefined && leader !== undefined) return { runtime, model, leader };
  throw new Error(`placement ${placement.name} has no runtime, model or leader`);
}

/** The request for one token, in the form that the placement's runtime accepts. */
export function tokenRequestOf(fleet: DesiredFleet, placement: DesiredPlacement): TokenRequest {
  const { runtime, model } = partsOf(fleet, placement);
  return driverOf(runtime).tokenRequest(placement, runtime, model);
}

function unknownPlacement(word: string, among: NamedIn, orAll: string): readonly Diagnostic[] {
  const { fleet, declared = fleet } = among;
  const names = [...new Set(declared.placements.flatMap((one) => [one.name, nameInFile(one)]))];
  if (placementsFor(word, fleet).length > 0) return [];
  if (placementsFor(word, declared).length > 0) return [neverApplied(word, among.isRehearsed === true)];
  const onNode = declared.placements.filter(({ nodes }) => nodes.some((node) => node === word));
  const near = didYouMean(word, names);
  const isNode = fleet.nodes.some(({ name }) => name === word);
  const there =
    onNode.length === 0
      ? 'No placement uses this node.'
      : `Placements on this node: ${listText(onNode.map(({ name }) => name))}.`;
  const hint = isNode
    ? there
    : near === undefined
      ? whatThereIs(declared, 'Name one', orAll)
      : `Did you mean \`${near}\`?`;
  const detail = isNode ? `${word} is a node, but this command takes placements.` : `Unknown placement \`${word}\`.`;
  return [diagnose('select/unknown-placement', { detail, hint, subject: placementSubject(word) })];
}

function neverApplied(name: string, isRehearsed: boolean): Diagnostic {
  const apply = prose`Apply it first: ${meshwright('apply')}`;
  return diagnose('select/never-applied', {
    detail: prose`${named(name)} is in the file but was never applied: cluster.lock has no digest of its runtime or its model.`,
    hint: isRehearsed ? prose`A simulated fleet runs for this file. Did you mean --sim?\nOtherwise: ${apply}` : apply,
    subject: placementSubject(name),
  });
}

function whatThereIs({ placements }: DesiredFleet, ask: string, orAll: string): string {
  const names = [...new Set(placements.map(nameInFile))];
  return names.length === 0 ? 'The file has no placements.' : `${ask} (${names.join(', ')})${orAll}.`;
}

const mostNames = 8;

/**
 * The target arguments of a disruptive command, which needs names, `--nodes`, `--label` or `--all`.
 * @throws FleetError `cli/usage` with suggestions if there are none
 */
export function namedTargets(run: Run, fleet: DesiredFleet, placements: readonly string[] = []): readonly string[] {
  const isNarrowed = run.options.nodes !== undefined || run.options.label !== undefined;
  if (wantsAll(run, 'Node') || isNarrowed || run.words.length > 0) return run.words;
  const names = fleet.nodes.slice(0, mostNames).map((node) => node.name);
  const more = fleet.nodes.length > mostNames ? `, ${fleet.nodes.length - mostNames} more` : '';
  const others = placements.length === 0 ? '' : ` or placements (${placements.join(', ')})`;
  throw usageError('No node was specified.', `Name nodes (${names.join(', ')}${more})${others}, or add --all.`);
}

/** The target nodes of a disruptive command. @throws FleetError for unknown names */
export const namedNodes = (run: Run, fleet: DesiredFleet): readonly DesiredNode[] =>
  targetedNodes(run, fleet, namedTargets(run, fleet));

/**
 * The same, but a placement's name stands for its nodes, in the layout in which it runs or last ran.
 * @throws FleetError `select/unknown-node` for a name that is neither a node nor a placement
 */
export async function namedMembers(run: Run, { fleet, opened }: SettledCluster): Promise<readonly DesiredNode[]> {
  const nodes = fleet.nodes.map(({ name }) => name as string);
  const others = run.words.filter((word) => !nodes.includes(word));
  const names = [...new Set(opened.fleet.placements.map(nameInFile))];
  refuseAny(
    others
      .filter((word) => placementsFor(word, opened.fleet).length === 0)
      .map((word) => {
        const { near, list } = choicesAmong([...nodes, ...names]);
        const hint = near(word);
        return diagnose('select/unknown-node', {
          detail: prose`The file has no node or placement \`${named(word)}\`.`,
          hint: hint === undefined ? `The nodes and placements are ${list}.` : `Did you mean \`${hint}\`?`,
          subject: nodeSubject(word),
        });
      }),
  );
  const asking = { ...run, words: placementNamesFor(others, opened.fleet) };
  const running = await fleetAsItRuns(asking, opened, openTargets(run, opened));
  const words = run.words.flatMap((word) =>
    nodes.includes(word) ? [word] : placementsFor(word, running).flatMap((one) => one.nodes),
  );
  return targetedNodes(run, fleet, namedTargets({ ...run, words }, fleet, names));
}
