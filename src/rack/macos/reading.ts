import { acceptsVersion } from '../../desired/version-range.ts';
import type { Facts } from '../../model/facts/fact-values.ts';
import type { MacosVersion } from '../../model/facts/mac.ts';
import { compareNumbers } from '../../model/lists.ts';
import type { Examination, ExaminedNode } from '../examination.ts';
import { readValue } from '../fact.ts';
import { macosVersionFact } from './fact.ts';

/** The first macOS with RDMA over Thunderbolt. @see Apple TN3205 */
export const firstMacosWithRdma = '26.2';

export const macosOf = (node: ExaminedNode): MacosVersion | undefined => readValue(node.facts, macosVersionFact);

const numbersOf = (version: string): readonly number[] => (version.match(/\d+/g) ?? []).map(Number);

/** Below 0 if `a` is older, above 0 if it is newer; 26.10 is newer than 26.4. */
export const compareVersions = (a: string, b: string): number => compareNumbers(numbersOf(a), numbersOf(b));

export function isOutsideAccept(examination: Examination, node: ExaminedNode): boolean {
  const { accept } = examination.desired.macos;
  const macos = macosOf(node);
  return accept !== undefined && macos !== undefined && acceptsVersion(accept, macos.version) === false;
}

export function isTooOldForRdma(node: ExaminedNode): boolean {
  const macos = macosOf(node);
  return macos !== undefined && acceptsVersion(`<${firstMacosWithRdma}`, macos.version) === true;
}

/**
 * True if this macOS has the RDMA switch in System Settings; before macOS 27 it is only in Recovery.
 * @see WWDC26; dev7a/rdmalink RDMASwitch.swift
 */
export const isRdmaInSettings = (version: string): boolean => compareVersions(version, '27.0') >= 0;

/** Applies {@link isRdmaInSettings} to a Mac. If its macOS is unknown, only Recovery is certain. */
export function hasRdmaInSettings(facts: Facts | undefined): boolean {
  const seen = readValue(facts, macosVersionFact);
  return seen !== undefined && isRdmaInSettings(seen.version);
}
