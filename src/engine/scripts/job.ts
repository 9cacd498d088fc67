import { type Digest, shortDigest } from '../../model/digest.ts';
import { given } from '../../model/given.ts';
import type { NodeName } from '../../model/node.ts';
import { firstCableRate, type JobCall, leastCableRate, type PeerPlan } from '../../model/node-script.ts';
import { type Activity, activities } from '../../model/step.ts';
import { below, rootLine, shellCommand } from '../../node/paths/node-paths.ts';
import {
  jobFolder,
  peersFolder,
  preparedMark,
  rankFile,
  stagedTree,
  treeFolder,
  verifiedMark,
} from '../../node/paths/own-paths.ts';
import { environmentLines } from '../../node/root-script.ts';
import { servesOverSsh } from '../../rack/artifacts/peers/peer-scripts.ts';
import { type Exchange, exchangeOf, nodeNames, type Serving, servingOf } from './exchange.ts';
import { jobBody } from './registry.ts';
import { sh } from './scripts.generated.ts';

export interface JobPoll {
  /** `gone`: neither a process nor an exit status. */
  readonly state: 'absent' | 'running' | 'ended' | 'gone';
  readonly exit?: number;
  /** Bytes. */
  readonly done?: number;
  readonly total?: number;
  /** What the job does now, and the bytes in `done` that were on the node before; absent from older jobs. */
  readonly activity?: Activity;
  readonly kept?: number;
  /** While waiting: the time of day at which it continues, such as `22:00`. */
  readonly until?: string;
  /** The Macs from which the last bytes came, if they came from other Macs. */
  readonly sources?: readonly NodeName[];
  readonly serving?: Serving;
  /** Set once a job has ended that got bytes from other Macs. */
  readonly exchange?: Exchange;
  /** The failure as a slug, with the tool's message. */
  readonly failure?: { readonly slug: string; readonly text: string };
  /** A remark of a job that succeeded. */
  readonly note?: string;
}

/** Polls one job as the SSH user; {@link parseJobPoll} parses the answer. */
export const pollJobCommand = (key: Digest, rootPrefix: string): string =>
  shellCommand(`${rootLine(rootPrefix)}
export R LC_ALL=C
${sh.pollJob({ key, folder: jobFolder(key) })}`);

/** Parses the answer of {@link pollJobCommand}; `undefined` if incomplete or malformed. */
export function parseJobPoll(stdout: string): JobPoll | undefined {
  const lines = stdout.split('\n');
  if (lines.at(-1) !== '' || lines.at(-2) !== 'end') return undefined;
  const all = lines.slice(0, -2).map((line) => fieldOf(line));
  const fields = new Map(all);
  const state = states.find((one) => one === fields.get('state'));
  const [, done, total] = /^(\d{1,16})(?: (\d{1,16}))?$/.exec(fields.get('progress') ?? '') ?? [];
  const [, word, kept] = /^([a-z]+) (\d{1,16})$/.exec(fields.get('activity') ?? '') ?? [];
  const activity = activities.find((one) => one === word);
  const sources = nodeNames(fields.get('sources') ?? '');
  const [, slug, text = ''] = /^([a-z][a-z0-9-]{0,63}) (.*)$/.exec(fields.get('failure') ?? '') ?? [];
  const exit = /^\d{1,3}$/.exec(fields.get('rc') ?? '')?.[0];
  if (state === undefined || (state === 'ended' && exit === undefined)) return undefined;
  return {
    state,
    ...(done === undefined ? {} : { done: Number(done) }),
    ...(total === undefined ? {} : { total: Number(total) }),
    ...(activity === undefined ? {} : { activity, kept: Number(kept) }),
    ...(activity === 'waiting' ? given({ until: timeOfDay.exec(fields.get('until') ?? '')?.[0] }) : {}),
    ...(sources === undefined ? {} : { sources }),
    ...(exit === undefined ? {} : { exit: Number(exit) }),
    ...(slug === undefined ? {} : { failure: { slug, text } }),
    ...given({
      note: fields.get('note'),
      serving: servingOf(fields.get('serving') ?? ''),
      exchange: exchangeOf(all.flatMap(([name, value]) => (name === 'exchange' ? [value] : []))),
    }),
  };
}

const timeOfDay = /^(?:[01]\d|2[0-3]):[0-5]\d$/;

const states = ['absent', 'running', 'ended', 'gone'] as const;

function fieldOf(line: string): readonly [string, string] {
  const at = line.indexOf('=');
  return [line.slice(0, Math.max(at, 0)), line.slice(at + 1)];
}

/** The text of a job's file `run` on the node. */
export const jobText = (call: JobCall): string => `${environmentLines}
${sh.job({})}
${jobBody(call)}
end 0
`;

/** Time limit for a job's PID, in tenths of a second. */
const startTenths = 100;

/** Values for a job that only a run has. */
interface LaunchSecrets {
  /** One line for the job's standard input. */
  readonly token?: string;
  /** The key of this run's exchanges between Macs. */
  readonly peerKey?: string;
  readonly ssh?: ExchangeAccess;
}

/** How the Macs of this run's exchanges reach each other over SSH. */
export interface ExchangeAccess {
  /** A key pair in OpenSSH's formats. */
  readonly privateKey: string;
  readonly publicKey: string;
  /** The Macs from which this one gets chunks, as far as their host keys are known. */
  readonly logins: readonly PeerLogin[];
}

/** Where a Mac's sshd listens, with the host key that the controller has verified. */
export interface PeerLogin {
  readonly node: NodeName;
  readonly user: string;
  readonly address: string;
  readonly port: number;
  /** Type and base64. */
  readonly hostKey: string;
}

/** A job's plan for exchanging a model with other Macs, if it has one. */
export const peerPlanOf = (call: JobCall): PeerPlan | undefined => ('peers' in call.args ? call.args.peers : undefined);

/** Starts a job; the script's file says when it does not. */
export function launchBody(key: Digest, call: JobCall, { token = '', peerKey = '', ssh }: LaunchSecrets = {}): string {
  const plan = peerPlanOf(call);
  return sh.launchJob({
    folder: jobFolder(key),
    ...resultOf(key, call),
    run: jobText(call),
    secret: token,
    peers: plan === undefined || !('tree' in call.args) ? '' : peersFolder(call.args.tree),
    peer_key: plan === undefined ? '' : peerKey,
    peer_account: plan?.account ?? '',
    hours: hoursOf(call),
    first_rate: firstCableRate,
    least_rate: leastCableRate,
    ...accessValues(plan, ssh),
    tenths: startTenths,
  });
}

/** The hours in which a job may download, as it reads them. */
function hoursOf(call: JobCall): string {
  if (call.name !== 'fetch-model' || call.args.source.kind !== 'url') return '';
  const { hours } = call.args.source;
  return hours === undefined ? '' : `${hours.begin} ${hours.end}`;
}

/** The private key is only for a Mac that gets chunks over SSH, the public key only for one that sends them. */
function accessValues(plan: PeerPlan | undefined, ssh: ExchangeAccess | undefined) {
  const logins = ssh?.logins ?? [];
  return {
    ssh_key: logins.length === 0 ? '' : (ssh?.privateKey.trimEnd() ?? ''),
    ssh_hosts: logins.map(({ node, hostKey }) => `${node} ${hostKey}`).join('\n'),
    ssh_peers: logins.map(({ node, user, address, port }) => `${node} ${user} ${address} ${port}`).join('\n'),
    granted_key: plan !== undefined && servesOverSsh(plan) ? (ssh?.publicKey ?? '') : '',
    peer_port: plan?.port ?? '',
  };
}

/** A job's result on the node, by which a later run finds that it is complete. */
function resultOf(key: Digest, call: JobCall) {
  if (call.name === 'prepare-rank') {
    const { placement, name, key: digest } = call.args;
    return {
      // Nothing publishes the folder, so only its mark counts.
      published: preparedMark(placement, name),
      staged: rankFile(placement, name),
      verified: preparedMark(placement, name),
      digest,
      about: `name=${call.name}\nplacement=${placement}`,
    };
  }
  // A job that only reads makes nothing that could already exist.
  const nothing = below(jobFolder(key), 'made');
  if (call.name === 'list-folder') {
    const about = `name=${call.name}\nmodel=${call.args.model}`;
    return { published: nothing, staged: nothing, verified: nothing, digest: key, about };
  }
  if (call.name === 'download-macos' || call.name === 'install-macos') {
    const about = `name=${call.name}\nlabel=${call.args.label}`;
    return { published: nothing, staged: nothing, verified: nothing, digest: key, about };
  }
  const { tree } = call.args;
  const isReading = call.name === 'rehash-model' || call.name === 'serve-model';
  return {
    published: isReading ? nothing : treeFolder(tree),
    staged: isReading ? nothing : stagedTree(tree),
    verified: verifiedMark(tree),
    digest: tree.digest,
    about: `name=${call.name}\ntree=${tree.kind} ${tree.name} ${shortDigest(tree.digest)}`,
  };
}
