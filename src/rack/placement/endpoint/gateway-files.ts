import type { DoormanKeys, DoormanUpstream } from '../../../model/gateway.ts';
import type { NodePath } from '../../../model/probe.ts';
import type { Text } from '../../../model/step.ts';
import {
  closedFolder,
  countsFile,
  doormanConfig,
  doormanLabel,
  doormanLog,
  keysFolder,
} from '../../../node/paths/own-paths.ts';

/** Everybody who reaches the node reaches it: the office network has names for more than one of its addresses. */
const everywhere = '0.0.0.0';

/** Behind a SIGTERM the doorman lets requests finish for 25 seconds. */
const exitTimeOutSeconds = 30;

/** One doorman of a node. */
export interface DoormanWork {
  readonly port: number;
  readonly node: NodePath;
  readonly program: NodePath;
  /** The account that it runs as; absent is the ssh user. */
  readonly user?: string;
  readonly upstreams: readonly DoormanUpstream[];
  /** Addresses of proxies. */
  readonly proxies: readonly string[];
  /** What it is to say that it is; a plist without it is what a version is made of. */
  readonly version?: string;
}

/** What the doorman is told, as JSON in which the paths of the node still lack their root. */
export function doormanConfigText({
  port,
  upstreams,
  proxies,
}: Pick<DoormanWork, 'port' | 'upstreams' | 'proxies'>): Text {
  const shown = upstreams.map((one) => JSON.stringify(one)).join(',\n    ');
  const listed = proxies.length === 0 ? '' : `\n  "proxies": ${JSON.stringify(proxies)},`;
  return [
    `{\n  "upstreams": [\n    ${shown}\n  ],${listed}\n  "keysFolder": "`,
    keysFolder(port),
    '",\n  "closedFolder": "',
    closedFolder(port),
    '",\n  "countsFile": "',
    countsFile(port),
    '"\n}\n',
  ];
}

/** The hashes of the keys of a placement, whatever their order in the file; `anybody` where no key is needed. */
export function doormanKeysText(keys: DoormanKeys['keys']): Text {
  const document: DoormanKeys = { keys: keys === 'anybody' ? keys : keys.toSorted() };
  return [`${JSON.stringify(document, null, 2)}\n`];
}

/** The content of a closing file. */
export const closedText = (reason: string): Text => [`${reason}\n`];

/**
 * What launchd has to know of a doorman: it runs always, as an account of its own unless the file says otherwise. It starts
 * no other program and writes nothing but its counts and its log.
 *
 * @see launchd.plist(5): KeepAlive, UserName, ExitTimeOut, ProcessType (what answers people is not to be throttled)
 */
export function doormanPlistText({
  port,
  node,
  program,
  user,
  version,
}: Omit<DoormanWork, 'upstreams' | 'proxies'>): Text {
  const log = doormanLog(port);
  const last = version === undefined ? '' : `\n\t\t<string>${version}</string>`;
  return [
    `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>ExitTimeOut</key>
	<integer>${exitTimeOutSeconds}</integer>
	<key>KeepAlive</key>
	<true/>
	<key>Label</key>
	<string>${doormanLabel(port)}</string>
	<key>ProcessType</key>
	<string>Interactive</string>
	<key>ProgramArguments</key>
	<array>
		<string>`,
    node,
    '</string>\n\t\t<string>',
    program,
    '</string>\n\t\t<string>',
    doormanConfig(port),
    `</string>\n\t\t<string>${everywhere}:${port}</string>${last}\n\t</array>\n\t<key>RunAtLoad</key>\n\t<true/>\n\t<key>StandardErrorPath</key>\n\t<string>`,
    log,
    '</string>\n\t<key>StandardOutPath</key>\n\t<string>',
    log,
    '</string>\n\t<key>UserName</key>\n\t<string>',
    user ?? { kind: 'login-user' },
    '</string>\n</dict>\n</plist>\n',
  ];
}
