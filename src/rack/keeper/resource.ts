import { isBeyondMemory, wantedWiredMegabytes } from '../../desired/amounts.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { KeeperObservation } from '../../model/facts/fact-values.ts';
import { andThen, type Known, known, mapKnown, seenValue } from '../../model/known.ts';
import type { NodePath } from '../../model/probe.ts';
import type { Step, Text } from '../../model/step.ts';
import { addressed } from '../../model/subject.ts';
import {
  type KeeperSettings,
  keeperData,
  keeperDataText,
  keeperPlist,
  keeperPlistText,
  keeperProgram,
} from '../../node/paths/keeper-files.ts';
import { textDigest } from '../../node/put-file.ts';
import { wantedAddresses } from '../addresses/resource.ts';
import { buildStep, scriptStep } from '../build-step.ts';
import { compared } from '../compare-values.ts';
import { read } from '../fact.ts';
import { keepsNetwork } from '../foreign-daemon/reading.ts';
import { hardwareFact } from '../identity/fact.ts';
import { type ObservedTarget, type Property, perTarget, propertiesOn, type Resource } from '../resource.ts';
import { keeperFact } from './fact.ts';
import { keepText } from './program-script.ts';

/** True if the keeper has to set the wired limit, which is lost at each boot. The macOS default needs no keeper. */
const hasLimit = ({ system: { wiredLimit } }: DesiredFleet): boolean =>
  wiredLimit !== undefined && wiredLimit.kind !== 'default';

function wiredPart(
  { system: { wiredLimit } }: DesiredFleet,
  memoryBytes: number,
): Pick<KeeperSettings, 'wiredMegabytes'> {
  const megabytes = wantedWiredMegabytes(wiredLimit, memoryBytes);
  return megabytes === undefined || isBeyondMemory(wiredLimit, memoryBytes) ? {} : { wiredMegabytes: megabytes };
}

/**
 * The settings that the keeper should keep on a node; undefined if it should not be installed. It gets every receptacle
 * that has an address in the file, whatever is observed now: the keeper checks the receptacles itself, in each round.
 */
function desiredSettings(fleet: DesiredFleet, target: ObservedTarget): Known<KeeperSettings | undefined> {
  if (fleet.system.keeper === undefined) return known(undefined);
  return andThen(hasLimit(fleet) ? read(target.facts, hardwareFact) : known(undefined), (hardware) => {
    const isNetworkOurs = keepsNetwork(fleet, target.facts);
    const settings: KeeperSettings = {
      isBridgeRemoved: isNetworkOurs && fleet.thunderbolt.bridge === 'remove',
      ...(hardware && wiredPart(fleet, hardware.memoryBytes)),
      addresses: isNetworkOurs ? wantedAddresses(fleet, target.desired.name) : [],
    };
    const isNothing =
      !settings.isBridgeRemoved && settings.wiredMegabytes === undefined && settings.addresses.length === 0;
    return known(isNothing ? undefined : settings);
  });
}

const filesAddress = addressed({ kind: 'keeper', part: 'files' });
const loadedAddress = addressed({ kind: 'keeper', part: 'loaded' });
const reason = 'system.keeper';

/** One desired file of the keeper. launchd refuses a property list that others can write to. */
interface WantedFile {
  readonly name: 'program' | 'data' | 'plist';
  readonly path: NodePath;
  readonly content: Text;
}

const wantedFiles = (settings: KeeperSettings): readonly WantedFile[] => [
  { name: 'program', path: keeperProgram, content: [keepText] },
  { name: 'data', path: keeperData, content: keeperDataText(settings) },
  { name: 'plist', path: keeperPlist, content: keeperPlistText },
];

const unlikeFiles = (settings: KeeperSettings, { files }: KeeperObservation): readonly WantedFile[] =>
  wantedFiles(settings).filter(({ path, content }) => {
    const seen = files.find((one) => one.path === path.path);
    return seen?.state !== 'intact' || seen.digest !== textDigest(content);
  });

const fileWords = { none: 'none', there: 'installed', missing: 'none', changed: 'differs', intact: 'installed' };

function filesState(settings: KeeperSettings | undefined, seen: KeeperObservation): keyof typeof fileWords {
  if (settings === undefined) return seen.files.length === 0 ? 'none' : 'there';
  if (unlikeFiles(settings, seen).length === 0) return 'intact';
  return seen.files.length === 0 ? 'missing' : 'changed';
}

const settingsWords = ({ isBridgeRemoved, wiredMegabytes, addresses }: KeeperSettings): string =>
  [
    ...(isBridgeRemoved ? ['no bridge'] : []),
    ...(addresses.length === 0 ? [] : [`${addresses.length} ${addresses.length === 1 ? 'address' : 'addresses'}`]),
    ...(wiredMegabytes === undefined ? [] : ['wired limit']),
  ].join(', ');

const loadedWords = (isLoaded: boolean): string => (isLoaded ? 'loaded' : 'not loaded');

function propertiesOf(fleet: DesiredFleet, target: ObservedTarget): readonly Property[] {
  const desired = desiredSettings(fleet, target);
  const seen = read(target.facts, keeperFact);
  const settings = seenValue(desired);
  const state: Known<keyof typeof fileWords> =
    desired.kind === 'unknown' ? desired : mapKnown(seen, (value) => filesState(desired.value, value));
  const isLoaded = desired.kind === 'unknown' ? desired : mapKnown(seen, (value) => value.isLoaded);
  const about = { node: target.desired.name, reason: `${reason}: ${fleet.system.keeper ?? 'none'}` };
  const isWanted = desired.kind === 'unknown' || settings !== undefined;
  return [
    {
      ...about,
      ...filesAddress,
      ...compared(
        isWanted ? 'intact' : 'none',
        state,
        (word) => fileWords[word],
        settings ? settingsWords(settings) : 'none',
      ),
    },
    { ...about, ...loadedAddress, kind: isWanted ? 'add' : 'remove', ...compared(isWanted, isLoaded, loadedWords) },
  ];
}

/** One step per file, then launchd. A loaded keeper rereads its program and its data in each round. */
function installSteps(settings: KeeperSettings, seen: KeeperObservation, makes: readonly Property[]): readonly Step[] {
  const ofFiles = makes.filter(({ address }) => address === filesAddress.address);
  const files = ofFiles.length === 0 ? [] : unlikeFiles(settings, seen);
  const puts: Step[] = [];
  for (const [at, { name, path, content }] of files.entries()) {
    const isLast = at === files.length - 1;
    puts.push(
      buildStep({
        name: `keeper/put-${name}`,
        class: 'converge',
        act: { kind: 'put', path, mode: 0o644, content },
        ...(isLast ? { makes: ofFiles } : { towards: ofFiles }),
        needs: puts.slice(-1),
        deadlineMs: 30_000,
      }),
    );
  }
  const reload = files.some(({ name }) => name === 'plist');
  const ofLaunchd = makes.filter(({ address }) => address === loadedAddress.address);
  const load = scriptStep({
    name: 'keeper/load',
    call: { name: 'load-keeper', args: { reload } },
    makes: ofLaunchd,
    towards: ofLaunchd.length === 0 ? ofFiles : [],
    needs: puts.slice(-1),
    deadlineMs: 60_000,
  });
  return reload || ofLaunchd.length > 0 ? [...puts, load] : puts;
}

function stepsOf(fleet: DesiredFleet, target: ObservedTarget, makes: readonly Property[]): readonly Step[] {
  const desired = desiredSettings(fleet, target);
  const keeper = read(target.facts, keeperFact);
  if (desired.kind === 'unknown' || keeper.kind === 'unknown') return [];
  if (desired.value !== undefined) return installSteps(desired.value, keeper.value, makes);
  return [scriptStep({ name: 'keeper/remove', call: { name: 'remove-keeper', args: {} }, makes, deadlineMs: 30_000 })];
}

/** The daemon that restores what macOS undoes: bridge, addresses, wired limit. It comes after these resources. */
export const keeper: Resource = {
  kind: 'keeper',
  after: ['identity', 'sudo', 'thunderbolt-bridge', 'link-address', 'wired-limit'],
  // Otherwise the keeper would restore addresses that `uninstall` removes.
  onUninstall: ({ nodes }) => ({ after: ['identity', 'sudo'], properties: propertiesOn(keeper, nodes) }),
  ...perTarget(propertiesOf, stepsOf),
};
