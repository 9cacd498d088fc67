import { updateUnits } from '../../desired/update-units.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { Facts } from '../../model/facts/fact-values.ts';
import type { MacosUpdate } from '../../model/facts/mac.ts';
import type { Known } from '../../model/known.ts';
import { listText } from '../../model/lists.ts';
import type { NodeName } from '../../model/node.ts';
import { nodeSubject } from '../../model/subject.ts';
import { labelled, named, prose } from '../../model/text/prose.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import { read } from '../../rack/fact.ts';
import { isBeta, macosVersionFact, updateText, versionText } from '../../rack/macos/fact.ts';
import { compareVersions } from '../../rack/macos/reading.ts';
import { runningUpdate } from '../../rack/macos/update-reading.ts';

/** How far a Mac is on its way to the version in the file. */
export type UpdateState =
  | { readonly kind: 'done'; readonly text: string; readonly build: string }
  /** An installation runs since this boot session began. */
  | { readonly kind: 'installing'; readonly from: string; readonly label: string }
  | { readonly kind: 'offered'; readonly from: string; readonly update: MacosUpdate }
  /** A person installs the update. */
  | { readonly kind: 'by-hand'; readonly from: string }
  | {
      readonly kind: 'blocked';
      readonly diagnostic: Diagnostic;
      /** Set if the Mac runs a newer version. */
      readonly isNewer?: true;
    };

type Blocked = Extract<UpdateState, { readonly kind: 'blocked' }>;

interface SeenMac {
  readonly node: NodeName;
  readonly facts: Facts | undefined;
  /** What the Mac is offered; undefined if a person installs updates. */
  readonly offers: Known<readonly MacosUpdate[]> | undefined;
}

/** @param to the version in the file */
export function updateState(to: string, { node, facts, offers }: SeenMac): UpdateState {
  const macos = read(facts, macosVersionFact);
  const blocked = (code: 'upgrade/not-offered' | 'upgrade/newer' | 'upgrade/unknown', detail: string): Blocked => ({
    kind: 'blocked',
    diagnostic: diagnose(code, { subject: nodeSubject(node), detail: prose`${labelled(node)}${detail}` }),
  });
  if (macos === undefined || macos.kind === 'unknown') {
    return blocked('upgrade/unknown', `the macOS version is unknown (${macos?.detail ?? 'the Mac did not answer'}).`);
  }
  const from = `macOS ${versionText(macos.value)}`;
  const order = compareVersions(macos.value.version, to);
  if (order > 0) return { ...blocked('upgrade/newer', `it runs ${from}, the file wants ${to}.`), isNewer: true };
  if (order === 0 && !isBeta(macos.value)) {
    const { build } = macos.value;
    return { kind: 'done', text: `${from} (${build})`, build };
  }
  const running = runningUpdate(facts);
  if (running !== undefined) return { kind: 'installing', from, label: running['label'] ?? '' };
  if (offers === undefined) return { kind: 'by-hand', from };
  if (offers.kind === 'unknown')
    return blocked('upgrade/not-offered', `what it is offered is unknown. ${offers.detail}`);
  const [update, ...others] = offers.value.filter((one) => isExactly(to, one));
  if (update !== undefined && others.length === 0) return { kind: 'offered', from, update };
  const list = listText(offers.value.map(updateText)) || 'nothing';
  return blocked('upgrade/not-offered', `it runs ${from} and is offered ${list}, not exactly one macOS ${to}.`);
}

/** Macs that run an older macOS than the file wants. */
export interface MacosUpdates {
  readonly to: string;
  /** In their order: the Macs to update, and the placements that stop meanwhile. */
  readonly units: readonly { readonly nodes: readonly NodeName[]; readonly placements: readonly string[] }[];
}

/** The updates that `upgrade macos` would install by itself; undefined if there are none. */
export function pendingUpdates(desired: DesiredFleet, { nodes }: FleetObservation): MacosUpdates | undefined {
  const { version: to, updateDriver } = desired.macos;
  if (to === undefined || updateDriver === undefined) return undefined;
  const isLeft = (node: NodeName): boolean => {
    const { kind } = updateState(to, { node, facts: nodes[node]?.facts, offers: undefined });
    return kind === 'by-hand' || kind === 'installing';
  };
  const units = updateUnits(desired)
    .map((unit) => ({
      nodes: unit.nodes.filter(isLeft),
      placements: unit.placements.flatMap(({ name, state }) => (state === 'serving' ? name : [])),
    }))
    .filter((unit) => unit.nodes.length > 0);
  return units.length === 0 ? undefined : { to, units };
}

/** A release of this version: neither a beta nor a background security improvement. Only its build proves it later. */
const isExactly = (to: string, update: MacosUpdate): boolean =>
  compareVersions(update.version, to) === 0 &&
  update.extra === undefined &&
  update.build !== undefined &&
  !isBeta(update);

/**
 * Why a Mac does not run its update; undefined if it does.
 * @param build the update's build; if absent, any release of the version will do
 */
export function updateProblem(
  to: string,
  {
    node,
    build,
    now,
  }: { readonly node: NodeName; readonly build: string | undefined; readonly now: UpdateState | undefined },
): Diagnostic | undefined {
  if (now?.kind === 'done' && (build === undefined || now.build === build)) return undefined;
  const wanted = `macOS ${to}${build === undefined ? '' : ` (${build})`}`;
  const found =
    now === undefined || now.kind === 'blocked'
      ? 'what it runs is unknown'
      : `it runs ${now.kind === 'done' ? now.text : now.from}`;
  const detail = prose`${named(node)} should run ${wanted}, but ${found}.`;
  return diagnose('upgrade/not-updated', {
    subject: nodeSubject(node),
    detail,
    related: now?.kind === 'blocked' ? now.diagnostic.related : [],
  });
}
