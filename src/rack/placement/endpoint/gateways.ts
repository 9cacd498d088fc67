import { innerPort } from '../../../desired/endpoints.ts';
import { gatewayUser, layoutsOf } from '../../../desired/layouts.ts';
import { otherReplicas } from '../../../desired/replicas.ts';
import { gatewayFile } from '../../../desired/resolve.ts';
import { driverOf } from '../../../drivers/registry.ts';
import type { DesiredFleet, DesiredPlacement, Publication } from '../../../model/desired.ts';
import { digestOf, shortDigest } from '../../../model/digest.ts';
import type { GatewayKeys, GatewayReplica, GatewayUpstream } from '../../../model/gateway.ts';
import { type Known, known, mapKnown } from '../../../model/known.ts';
import { alike, oncePer } from '../../../model/lists.ts';
import type { NodeName } from '../../../model/node.ts';
import type { NodePath } from '../../../model/probe.ts';
import type { Text } from '../../../model/step.ts';
import { plistHead } from '../../../node/launchd-service.ts';
import { below } from '../../../node/paths/node-paths.ts';
import {
  closedFolder,
  countsFile,
  gatewayConfig,
  gatewayLabel,
  gatewayLog,
  gatewaySecret,
  keysFolder,
  replicasFolder,
  treeFolder,
} from '../../../node/paths/own-paths.ts';
import { textDigest } from '../../../node/put-file.ts';
import { treeOf } from '../../records/trees-reading.ts';

export type PublishedPlacement = DesiredPlacement & { readonly publication: Publication };

export interface WantedGateway {
  /** The leader of all its placements, on their own nodes or on their fallback. */
  readonly node: NodeName;
  readonly port: number;
  readonly placements: readonly PublishedPlacement[];
}

const isPublished = (one: DesiredPlacement): one is PublishedPlacement => one.publication !== undefined;

/** Returns a placement's leader. @throws Error if there is none, which no file can declare */
function leaderOf({ name, nodes: [leader] }: DesiredPlacement): NodeName {
  if (leader === undefined) throw new Error(`placement ${name} has no node`);
  return leader;
}

/** The placement, and its fallback if the fallback has a different leader: its gateway always exists. */
function atLeaders(placement: PublishedPlacement): readonly PublishedPlacement[] {
  const [own, other] = layoutsOf(placement).filter(isPublished);
  if (own === undefined) return [];
  return other === undefined || leaderOf(other) === leaderOf(own) ? [own] : [own, other];
}

/** All desired gateways by node and port. Placements on the same port of the same leader share a gateway. */
const allWanted = oncePer(({ placements }: DesiredFleet): readonly WantedGateway[] => {
  const all = placements.filter(isPublished).flatMap(atLeaders);
  return alike(all, (one) => `${leaderOf(one)} ${one.endpointPort}`).map(([first, placements]) => ({
    node: leaderOf(first),
    port: first.endpointPort,
    placements,
  }));
});

export const wantedGateways = (fleet: DesiredFleet, node: NodeName): readonly WantedGateway[] =>
  allWanted(fleet).filter((one) => one.node === node);

/**
 * A gateway's files except its keys, and their version, which the gateway reports.
 * @throws Error if the fleet was not settled, which is a bug
 */
export function gatewayFiles(
  fleet: DesiredFleet,
  wanted: WantedGateway,
): { readonly config: Text; readonly plist: Text; readonly version: string } {
  const { gateway } = fleet;
  if (gateway === undefined) throw new Error('a published endpoint has no gateway');
  const folder = treeFolder(treeOf('runtime', gateway.name, gateway.digest));
  const node = fleet.nodes.find(({ name }) => name === wanted.node);
  const upstreams = wanted.placements.map((one) => upstreamOf(fleet, one));
  const proxies = [...new Set(wanted.placements.flatMap(({ publication }) => publication.proxies ?? []))].toSorted();
  const hasReplicas = wanted.placements.some(({ replica }) => replica !== undefined);
  const config = configText(wanted.port, upstreams, { proxies, hasReplicas });
  const work: GatewayJob = {
    listen: `${addressOf(wanted.placements)}:${wanted.port}`,
    port: wanted.port,
    node: below(folder, gateway.program),
    program: below(folder, gatewayFile),
    user: node && gatewayUser(fleet, node),
  };
  const version = shortDigest(digestOf([textDigest(config), textDigest(plistText(work))]));
  return { config, plist: plistText(work, version), version };
}

function upstreamOf(fleet: DesiredFleet, placement: PublishedPlacement): GatewayUpstream {
  const { name, publication, parallel } = placement;
  const runtime = fleet.runtimes.find((one) => one.name === placement.runtime);
  const model = fleet.models.find((one) => one.name === placement.model);
  const driver = runtime && driverOf(runtime);
  const token = runtime && model && driver?.tokenRequest(placement, runtime, model);
  return {
    placement: name,
    servedName: publication.servedName,
    port: innerPort(name),
    model: modelWord(token?.body) ?? publication.servedName,
    ...(token === undefined ? {} : { ownPaths: [token.path] }),
    cancels: driver?.cancels?.(Math.max(...layoutsOf(placement).map(({ nodes }) => nodes.length))) ?? 'always',
    maxRequests: parallel,
    ...driver?.api?.(model?.shape?.vocabulary),
  };
}

/** The model name that the runtime expects, taken from the request for one token. */
function modelWord(body: unknown): string | undefined {
  const word = typeof body === 'object' && body !== null && 'model' in body ? body.model : undefined;
  return typeof word === 'string' && word !== '' ? word : undefined;
}

/** A placement's key file; unknown if a key cannot be read, undefined if no attempt was made to read the keys. */
export function wantedKeys({ publication: { apiKeys, keyHashes } }: PublishedPlacement): Known<Text> | undefined {
  if (apiKeys === undefined) return known(keysText('anybody'));
  return keyHashes && mapKnown(keyHashes, keysText);
}

/** The file with the other replicas of a placement; undefined if the placement has no replicas. */
export function wantedReplicas(fleet: DesiredFleet, placement: PublishedPlacement): Text | undefined {
  if (placement.replica === undefined) return undefined;
  const others = otherReplicas(fleet, placement).flatMap(
    ({ name, nodes: [leader], endpointPort }): GatewayReplica[] => {
      const node = fleet.nodes.find((one) => one.name === leader);
      return node === undefined ? [] : [{ placement: name, host: node.host, port: endpointPort }];
    },
  );
  return [`${JSON.stringify(others, null, 2)}\n`];
}

/** All interfaces if a placement is published, because its name may resolve to any of the node's addresses. */
const addressOf = (placements: readonly PublishedPlacement[]): string =>
  placements.every(({ publication }) => publication.isLocal === true) ? '127.0.0.1' : '0.0.0.0';

/** After SIGTERM, the gateway gives requests 25 s to finish. */
const exitTimeOutSeconds = 30;

/** The gateway's settings as JSON. Paths on the node get their root prefix later. */
function configText(
  port: number,
  upstreams: readonly GatewayUpstream[],
  { proxies, hasReplicas }: { readonly proxies: readonly string[]; readonly hasReplicas: boolean },
): Text {
  const shown = upstreams.map((one) => JSON.stringify(one)).join(',\n    ');
  const listed = proxies.length === 0 ? '' : `\n  "proxies": ${JSON.stringify(proxies)},`;
  return [
    `{\n  "upstreams": [\n    ${shown}\n  ],${listed}\n  "keysFolder": "`,
    keysFolder(port),
    ...(hasReplicas ? ['",\n  "replicasFolder": "', replicasFolder(port)] : []),
    '",\n  "ownFile": "',
    gatewaySecret(port),
    '",\n  "closedFolder": "',
    closedFolder(port),
    '",\n  "countsFile": "',
    countsFile(port),
    '"\n}\n',
  ];
}

/** The sorted hashes of a placement's keys; `anybody` if no key is needed. */
function keysText(keys: GatewayKeys['keys']): Text {
  const document: GatewayKeys = { keys: keys === 'anybody' ? keys : keys.toSorted() };
  return [`${JSON.stringify(document, null, 2)}\n`];
}

interface GatewayJob {
  /** Address and port. */
  readonly listen: string;
  readonly port: number;
  readonly node: NodePath;
  readonly program: NodePath;
  /** The account that runs the gateway; undefined means the SSH user. */
  readonly user: string | undefined;
}

/**
 * The gateway's property list for launchd. The gateway always runs, as its own account unless the file sets another
 * one. It starts no other program and writes only its counts and its log.
 * @param version the version that it reports, which is computed from the plist without it
 * @see launchd.plist(5): KeepAlive, UserName, ExitTimeOut, ProcessType (a service that answers people must not be
 * throttled)
 */
function plistText({ listen, port, node, program, user }: GatewayJob, version?: string): Text {
  const log = gatewayLog(port);
  const last = version === undefined ? '' : `\n\t\t<string>${version}</string>`;
  return [
    `${plistHead}	<key>ExitTimeOut</key>
	<integer>${exitTimeOutSeconds}</integer>
	<key>KeepAlive</key>
	<true/>
	<key>Label</key>
	<string>${gatewayLabel(port)}</string>
	<key>ProcessType</key>
	<string>Interactive</string>
	<key>ProgramArguments</key>
	<array>
		<string>`,
    node,
    '</string>\n\t\t<string>',
    program,
    '</string>\n\t\t<string>',
    gatewayConfig(port),
    `</string>\n\t\t<string>${listen}</string>${last}\n\t</array>\n\t<key>RunAtLoad</key>\n\t<true/>\n\t<key>StandardErrorPath</key>\n\t<string>`,
    log,
    '</string>\n\t<key>StandardOutPath</key>\n\t<string>',
    log,
    '</string>\n\t<key>UserName</key>\n\t<string>',
    user ?? { kind: 'login-user' },
    '</string>\n</dict>\n</plist>\n',
  ];
}
