import type { NodePath } from '../../model/probe.ts';
import type { Text } from '../../model/step.ts';
import { plistHead } from '../launchd-service.ts';
import { below, place, tool } from './node-paths.ts';

/** The launchd label of the keeper. */
export const keeperLabel = 'dev.meshwright.keeper';

/** Its program, the same on every node. */
export const keeperProgram: NodePath = below(place.keeper, 'keep');

/** What it keeps on this node; without it it does nothing. */
export const keeperData: NodePath = below(place.keeper, 'data');

/** Its property list. */
export const keeperPlist: NodePath = below(place.launchDaemons, `${keeperLabel}.plist`);

/** One line for each of its changes. */
export const keeperLog: NodePath = below(place.log, 'keeper');

/** The last of these lines alone, so that an observation needs no process to read it. */
export const keeperLast: NodePath = below(place.keeper, 'last');

/** In the folder of a transaction: what the keeper keeps is not to be so any more once the change is confirmed. */
export const outdatedName = 'keeper-confirmed';

/** That mark in a change that was confirmed, until the data are gone. */
export const outdatedMark: NodePath = below(below(place.rollback, 'confirmed'), outdatedName);

/**
 * The mark of a node on which macOS did not let the ssh session change the network preferences: what only
 * networksetup can set is left to the keeper there.
 */
export const refusedMark: NodePath = below(place.ours, 'no-full-disk-access');

/** Seconds from one round to the next. */
const intervalSeconds = 60;

/**
 * What launchd has to know of the keeper: it runs at every start and once a minute, and each run is one round.
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

/** What is kept on one node. */
export interface Kept {
  /** Whether macOS's own Thunderbolt Bridge is taken away. */
  readonly isBridgeRemoved: boolean;
  /** `iogpu.wired_limit_mb`. */
  readonly wiredMegabytes?: number;
  /** By receptacle, since macOS may call its interface otherwise after the next start. */
  readonly addresses: readonly {
    readonly receptacle: number;
    readonly address: string;
    readonly prefixLength: number;
  }[];
}

/** `0xfffffffc` for 30, as ifconfig prints and takes it. */
const hexMask = (prefixLength: number): string =>
  `0x${('1'.repeat(prefixLength).padEnd(32, '0').match(/.{4}/g) ?? []).map((bits) => Number.parseInt(bits, 2).toString(16)).join('')}`;

/** The line of one address in the data. */
export const addressLine = (receptacle: number, address: string, prefixLength: number): string =>
  `address ${receptacle} ${address} ${hexMask(prefixLength)}`;

/** The line of the wired limit in the data. */
const wiredLine = (megabytes: number): string => `wired ${megabytes}`;

/** The line of the bridge in the data. */
export const bridgeLine = 'bridge remove';

/** The data of a node: one line for each thing that is kept. */
export const keeperDataText = ({ isBridgeRemoved, wiredMegabytes, addresses }: Kept): Text => {
  const lines = [
    ...(wiredMegabytes === undefined ? [] : [wiredLine(wiredMegabytes)]),
    ...(isBridgeRemoved ? [bridgeLine] : []),
    ...addresses.map(({ receptacle, address, prefixLength }) => addressLine(receptacle, address, prefixLength)),
  ];
  return [lines.map((line) => `${line}\n`).join('')];
};
