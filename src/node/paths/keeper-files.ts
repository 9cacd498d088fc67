import type { NodePath } from '../../model/probe.ts';
import type { Text } from '../../model/step.ts';
import { plistHead } from '../launchd-service.ts';
import { below, place, tool } from './node-paths.ts';

export const keeperLabel = 'dev.meshwright.keeper';

export const keeperProgram: NodePath = below(place.keeper, 'keep');

/** The values that the keeper maintains on this node. Without this file, the keeper does nothing. */
export const keeperData: NodePath = below(place.keeper, 'data');

export const keeperPlist: NodePath = below(place.launchDaemons, `${keeperLabel}.plist`);

export const keeperLog: NodePath = below(place.log, 'keeper');

/** Only the last line of that log, so that an observation can read it without a process. */
export const keeperLast: NodePath = below(place.keeper, 'last');

/**
 * One line with the time at which the keeper hashed each model version completely: `NAME/VERSION=EPOCH`. `!` instead of
 * `=` means that a file could not be read.
 */
export const keeperHashed: NodePath = below(place.keeper, 'hashed');

/** The keeper's position in the version that it hashes. */
export const keeperHashing: NodePath = below(place.keeper, 'hashing');

/** A mark in a transaction's folder: the change is confirmed, so the keeper must not restore its data anymore. */
export const outdatedName = 'keeper-confirmed';

/** That mark in a confirmed change, until the data are deleted. */
export const outdatedMark: NodePath = below(below(place.transaction, 'confirmed'), outdatedName);

/**
 * The mark of a node where macOS did not let the ssh session change network preferences. On such a node, only the
 * keeper applies changes that need networksetup.
 */
export const refusedMark: NodePath = below(place.ours, 'no-full-disk-access');

const intervalSeconds = 60;

/**
 * The keeper's launchd job. It runs at boot and once a minute; each run is one round.
 *
 * @see launchd.plist(5): RunAtLoad, StartInterval
 */
export const keeperPlistText: Text = [
  `${plistHead}	<key>Label</key>
	<string>${keeperLabel}</string>
	<key>ProgramArguments</key>
	<array>
		<string>`,
  tool.sh,
  `</string>
		<string>`,
  keeperProgram,
  `</string>
	</array>
	<key>RunAtLoad</key>
	<true/>
	<key>StartInterval</key>
	<integer>${intervalSeconds}</integer>
</dict>
</plist>
`,
];

export interface KeeperSettings {
  readonly isBridgeRemoved: boolean;
  /** `iogpu.wired_limit_mb`. */
  readonly wiredMegabytes?: number;
  /** Addresses by receptacle, because macOS may rename a receptacle's interface at the next boot. */
  readonly addresses: readonly {
    readonly receptacle: number;
    readonly address: string;
    readonly prefixLength: number;
  }[];
}

/** `0xfffffffc` for 30, in ifconfig's notation. */
const hexMask = (prefixLength: number): string =>
  `0x${('1'.repeat(prefixLength).padEnd(32, '0').match(/.{4}/g) ?? []).map((bits) => Number.parseInt(bits, 2).toString(16)).join('')}`;

export const addressLine = (receptacle: number, address: string, prefixLength: number): string =>
  `address ${receptacle} ${address} ${hexMask(prefixLength)}`;

const wiredLine = (megabytes: number): string => `wired ${megabytes}`;

export const bridgeLine = 'bridge remove';

export const keeperDataText = ({ isBridgeRemoved, wiredMegabytes, addresses }: KeeperSettings): Text => {
  const lines = [
    ...(wiredMegabytes === undefined ? [] : [wiredLine(wiredMegabytes)]),
    ...(isBridgeRemoved ? [bridgeLine] : []),
    ...addresses.map(({ receptacle, address, prefixLength }) => addressLine(receptacle, address, prefixLength)),
  ];
  return [lines.map((line) => `${line}\n`).join('')];
};

/** The values for `network-setup.sh`. */
export const netValues = { refused_mark: refusedMark };

/** The values for `leave.sh`. @param keeper whether the keeper maintains the value that the script sets */
export const leaveValues = (keeper = false) => ({ ...netValues, keeper });
