import type { Code } from '../../diagnostics/code-entry.ts';
import { codes as general } from '../../diagnostics/diagnose.ts';
import { hasTrait } from '../../diagnostics/diagnostic.ts';
import { fullDiskAccess, sudo } from '../../rack/access/rule.ts';
import { accounts, runsAsLogin } from '../../rack/accounts/rule.ts';
import { leftBehindAddresses } from '../../rack/addresses/left-behind-rule.ts';
import { cableAddresses, poolOverlap } from '../../rack/addresses/rule.ts';
import { disk, panics } from '../../rack/boot/rule.ts';
import { bridge, bridgeLoop, madeBridgesRule } from '../../rack/bridge/rule.ts';
import { cables } from '../../rack/cables/cables-rule.ts';
import { carriers } from '../../rack/cables/carrier-rule.ts';
import { surplus } from '../../rack/cables/surplus-rule.ts';
import { clock } from '../../rack/clock/rule.ts';
import type { DefinedRule, FindingRole, Rule, RuleCode } from '../../rack/define-rule.ts';
import { filevault } from '../../rack/filevault/rule.ts';
import { foreignDaemons } from '../../rack/foreign-daemon/rule.ts';
import { holds } from '../../rack/hold/rule.ts';
import { sameMac, unequalMacs, unknownModel, wrongMac } from '../../rack/identity/rule.ts';
import { knownPairsRule } from '../../rack/macos/pairs-rule.ts';
import { macosAccept, macosBuilds, macosUpdating, macosVersions, otherMacos } from '../../rack/macos/rule.ts';
import { swap, wiredLimit } from '../../rack/memory/rule.ts';
import { serviceOrder } from '../../rack/network/service-order-rule.ts';
import { unconfirmedChange } from '../../rack/network/transaction/rule.ts';
import { rdmaKernelRule } from '../../rack/rdma/kernel-rule.ts';
import { rdma } from '../../rack/rdma/rule.ts';
import { damagedModels, preparedModels } from '../../rack/records/trees-rule.ts';
import { backgroundServices } from '../../rack/settings/background-services.ts';
import { settings } from '../../rack/settings/settings.ts';
import { unknownFactsRule } from './unknown-facts.ts';

/** All rules except settings, with their codes, in any order. A new rule needs its definition and one line here. */
const listed = [
  wrongMac,
  sameMac,
  macosAccept,
  otherMacos,
  macosVersions,
  macosBuilds,
  macosUpdating,
  cables,
  surplus,
  carriers,
  bridge,
  madeBridgesRule,
  bridgeLoop,
  rdma,
  rdmaKernelRule,
  poolOverlap,
  cableAddresses,
  leftBehindAddresses,
  serviceOrder,
  unconfirmedChange,
  wiredLimit,
  swap,
  filevault,
  panics,
  fullDiskAccess,
  foreignDaemons,
  backgroundServices,
  sudo,
  holds,
  accounts,
  runsAsLogin,
  clock,
  disk,
  damagedModels,
  preparedModels,
] as const;

type Listed = (typeof listed)[number] | Extract<(typeof settings)[number], { readonly codes: unknown }>;

const defined: readonly DefinedRule[] = [...listed, ...settings.filter((one) => 'rule' in one)];

export const definedCodes: { readonly [R in Listed as keyof R['codes']]: RuleCode & Code } = Object.assign(
  {},
  ...defined.map(({ codes }) => codes),
);

/** All rules. The last four use codes that are defined elsewhere. */
export const rules: readonly Rule[] = [
  ...defined.map(({ rule }) => rule),
  unknownModel,
  unequalMacs,
  knownPairsRule,
  unknownFactsRule,
];

/** Every diagnostic code with its texts. */
export const codes = { ...definedCodes, ...general };

/** The name of a diagnostic code. */
export type DiagnosticCode = keyof typeof codes;

/** The texts and traits of a code, with its role and facts if a rule has it. */
export const entryOf = (code: string): (Code & Partial<RuleCode>) | undefined =>
  Object.hasOwn(codes, code) ? codes[code as DiagnosticCode] : undefined;

/** A code's role. A locked FileVault is the only observation failure with a manual step; others are only reported. */
export function roleOf(code: string): FindingRole {
  const entry = entryOf(code);
  return entry?.role ?? (hasTrait(entry, 'locked') ? { blocks: 'filevault' } : 'reported');
}

/** The part of a code before the slash. */
export type Area<C = DiagnosticCode> = C extends `${infer A}/${string}` ? A : never;

export const areaOf = ({ code }: { readonly code: string }): Area => code.slice(0, code.indexOf('/')) as Area;
