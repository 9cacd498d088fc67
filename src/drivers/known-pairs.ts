import { pointerTo } from '../desired/draft.ts';
import { requirementsName } from '../desired/settle/python-packages.ts';
import { inRange } from '../desired/version-range.ts';
import { diagnose } from '../diagnostics/diagnose.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { DesiredFleet, DesiredPlacement, DesiredRuntime } from '../model/desired.ts';
import { given } from '../model/given.ts';
import { alike, listText } from '../model/lists.ts';
import { macModel } from '../model/macs.ts';
import type { NodeName } from '../model/node.ts';
import { runtimeSubject } from '../model/subject.ts';
import { knownPairs } from './known/tables.generated.ts';
import type { KnownPair, PairPart } from './known/tables.ts';
import { driverOf } from './registry.ts';

/** The macOS versions that a Mac runs or should run, and its model. */
export interface PairedMac {
  readonly macos: readonly string[];
  readonly model?: string;
}

/** Versions of one runtime and of macOS that a public report says break together. */
interface BrokenPair {
  readonly runtime: DesiredRuntime;
  readonly placements: readonly string[];
  /** Such as `macOS 27.0` and `mlx 0.32.0`. */
  readonly versions: readonly string[];
  readonly pair: KnownPair;
}

/** The Mac as the file describes it. */
export const declaredMac =
  ({ nodes, macos }: DesiredFleet) =>
  (name: NodeName): PairedMac => ({
    macos: macos.version === undefined ? [] : [macos.version],
    ...given({ model: nodes.find((node) => node.name === name)?.hardware.model }),
  });

/** The known pairs that placements combine, on these Macs. Unknown versions break nothing. */
export function brokenPairs(
  fleet: DesiredFleet,
  macOf: (name: NodeName) => PairedMac = declaredMac(fleet),
): readonly BrokenPair[] {
  const found = fleet.placements.flatMap((placement) => {
    const runtime = fleet.runtimes.find(({ name }) => name === placement.runtime);
    if (runtime === undefined) return [];
    return knownPairs.flatMap((pair) =>
      combinedVersions(pair, { placement, runtime, macs: placement.nodes.map(macOf) }).map((versions) => ({
        runtime,
        placement: placement.name,
        versions,
        pair,
      })),
    );
  });
  return alike(found, (one) => JSON.stringify([one.runtime.name, one.pair, one.versions])).map(([first, all]) => ({
    ...first,
    placements: all.map(({ placement }) => placement),
  }));
}

/** What public reports say breaks with the macOS in the file, of these placements. */
export const pairsOf = (fleet: DesiredFleet, names: readonly string[]): readonly Diagnostic[] =>
  brokenPairs({ ...fleet, placements: fleet.placements.filter(({ name }) => names.includes(name)) }).map(
    pairDiagnostic,
  );

interface Combined {
  readonly placement: DesiredPlacement;
  readonly runtime: DesiredRuntime;
  readonly macs: readonly PairedMac[];
}

/** Every combination of versions that the pair describes, each as texts. */
function combinedVersions(
  { versions: { macos, ...own }, only = {} }: KnownPair,
  { placement, runtime, macs }: Combined,
): readonly (readonly string[])[] {
  const isAbout =
    (only.nodes === undefined || placement.nodes.length > 1) &&
    (only.transport === undefined || placement.transport === only.transport) &&
    (only.sharding === undefined || placement.sharding === only.sharding);
  const known = pairVersions(runtime);
  const ranges = Object.entries(own);
  if (!isAbout || !ranges.every(([part, range]) => known[part] !== undefined && inRange(known[part], range))) return [];
  const texts = ranges.map(([part]) => partText(part, known[part] ?? ''));
  if (macos === undefined) return [texts];
  const { chip = '' } = only;
  const hasChip = ({ model }: PairedMac): boolean =>
    chip === '' || (model !== undefined && macModel(model)?.chip.startsWith(chip) === true);
  const running = macs.filter(hasChip).flatMap((mac) => mac.macos.filter((version) => inRange(version, macos)));
  return [...new Set(running)].map((version) => [partText('macos', version), ...texts]);
}

const pairVersions = (runtime: DesiredRuntime): Readonly<Record<string, string>> =>
  driverOf(runtime).pairVersions?.(runtime) ?? {};

/** `macOS 26.2`, or a key of the file in backticks. */
const partText = (part: string, value: string): string =>
  part === 'transport' ? `\`${part}: ${value}\`` : `${part === 'macos' ? 'macOS' : part} ${value}`;

/** The warning about a pair, without its place in the file. */
export function pairDiagnostic({ runtime, placements, versions, pair }: BrokenPair): Diagnostic {
  const { symptom, works = {}, source } = pair;
  const combine = placements.length === 1 ? 'combines' : 'combine';
  const [hint] = Object.entries(works).map(([part, value]) => {
    const how = runtime.packages?.[part] === undefined ? '' : ` ${ofList}`;
    return `Use ${partText(part, value)}.${how}`;
  });
  return diagnose('version/known-pair', {
    subject: runtimeSubject(runtime.name),
    detail: `${listText(placements)} ${combine} ${listText(versions)}. ${symptom} Report: ${source}`,
    ...given({ hint }),
  });
}

/** The JSON pointer of the key that sets a runtime's version. */
export function versionPointer({ name, packages, extras }: DesiredRuntime): string {
  const list = packages === undefined ? undefined : extras.find((one) => one.name === requirementsName);
  const key =
    list !== undefined && list.lists === undefined ? 'requirements' : list?.lists?.source ? 'source' : 'version';
  return pointerTo(pointerTo('/runtimes', name), key);
}

const ofList =
  'To change a package: with `version`, delete the list of packages next to the cluster file and run apply; with `requirements`, compile the list again.';

const parts: readonly string[] = ['exo', 'llama.cpp', 'mlx', 'mlx-lm', 'transformers'] satisfies PairPart[];

/** The combinations in the file that no known pair describes, such as `macOS 26.5 with exo 1.0.71`. They are unknown. */
export function unknownPairs(fleet: DesiredFleet): readonly string[] {
  const { version } = fleet.macos;
  const broken = brokenPairs(fleet).map(({ runtime }) => runtime);
  const used = fleet.runtimes.filter(
    (one) => fleet.placements.some(({ runtime }) => runtime === one.name) && !broken.includes(one),
  );
  return used.flatMap((runtime) => {
    const known = pairVersions(runtime);
    const texts = parts.flatMap((part) => (known[part] === undefined ? [] : `${part} ${known[part]}`));
    return version === undefined || texts.length === 0 ? [] : `macOS ${version} with ${listText(texts)}`;
  });
}
