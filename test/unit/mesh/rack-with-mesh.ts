import { configurePlacement } from '../../../src/drivers/configure-placement.ts';
import { lastingNames } from '../../../src/drivers/contract/seen-names.ts';
import type { FactName, FactValues } from '../../../src/engine/observe/facts.ts';
import type { CommandRuntime, DesiredFleet, DesiredPlacement } from '../../../src/model/desired.ts';
import { digest, digestOf } from '../../../src/model/digest.ts';
import type { PlacementMember, TokenSight } from '../../../src/model/facts/fact-values.ts';
import type { LaunchdService } from '../../../src/model/facts/launchd-service.ts';
import type { UnknownReason } from '../../../src/model/known.ts';
import { nodeName } from '../../../src/model/node.ts';
import type { FleetObservation } from '../../../src/rack/fleet-observation.ts';
import type { MemberState } from '../../../src/rack/placement/members/member.ts';
import { desiredFleet, meshOfFour, observedFleet } from '../doctor/fleet-builder.ts';

/** The networks of the mesh of four, settled. */
const networks = Object.fromEntries(
  meshOfFour.map((_, index) => [index, { address: `10.77.0.${4 * index}`, prefixLength: 30 }]),
);

/** What is different from {@link meshFleet}. */
export interface MeshChanges {
  readonly placement?: Partial<DesiredPlacement>;
  readonly runtime?: Partial<CommandRuntime>;
}

/** The fleet with ranks and gateways that run as the ssh user: no step checks an account then. */
export const asLogin = (fleet: DesiredFleet): DesiredFleet => ({ ...fleet, system: { ...fleet.system, accounts: {} } });

/** A placement `kimi` on studio-1, studio-2 and studio-3, all of it settled. */
export function meshFleet({ placement = {}, runtime = {} }: MeshChanges = {}): DesiredFleet {
  const base = desiredFleet();
  return {
    ...base,
    thunderbolt: { ...base.thunderbolt, networks },
    runtimes: [
      {
        name: 'reference',
        driver: 'command',
        archive: '/archives/reference.tar.gz',
        sha256: digestOf('archive'),
        digest: digestOf('archive'),
        extras: [],
        sizeBytes: 1_000,
        command: ['{runtime}/bin/rank', '--rank', '{rank}', '--listen', '{address}:{port}', '--model={model}'],
        order: 'leader-first',
        restart: 'group',
        joinedListening: '{port}',
        token: { path: '/v1/chat/completions', json: '/choices/0/message/content' },
        ...runtime,
      },
    ],
    models: [
      { name: 'tiny', source: { kind: 'controller', folder: '/models/tiny' }, files: [], digest: digestOf('model') },
    ],
    placements: [
      {
        name: 'kimi',
        model: 'tiny',
        runtime: 'reference',
        nodes: ['studio-1', 'studio-2', 'studio-3'].map(nodeName),
        sharding: 'tensor',
        transport: 'tcp',
        contextTokens: 4_096,
        parallel: 1,
        env: {},
        args: [],
        endpointPort: 8_080,
        firstTokenMs: 30_000,
        state: 'serving',
        ...placement,
      },
    ],
  };
}

/** The digest of `kimi` as the file has it. */
export function digestOfKimi(fleet: DesiredFleet): string {
  const [kimi] = fleet.placements;
  const configured = kimi === undefined ? undefined : configurePlacement(kimi, fleet, 0, lastingNames);
  return configured?.kind === 'configured' ? configured.digest : '';
}

/** One member as its node shows it. */
export interface MemberCase {
  readonly placement?: string;
  readonly state: MemberState;
  readonly rank?: number;
  /** Absent: 4. */
  readonly generation?: number;
  readonly digest?: string;
  readonly startedIn?: string;
  readonly starts?: number;
  readonly token?: TokenSight;
  readonly changes?: Partial<PlacementMember>;
  /** Of the service. */
  readonly lastExit?: string;
  /** Neither in the list of services nor among the records. */
  readonly lacks?: 'record' | 'service';
}

const answered: TokenSight = { kind: 'answered', text: 'Hi' };
const notAsked: TokenSight = { kind: 'not-asked' };

function recordOf(one: MemberCase, wanted: string): PlacementMember {
  const { placement = 'kimi', state, rank = 0, generation = 4 } = one;
  const isUp = state === 'running' || state === 'meeting' || state === 'joined';
  return {
    placement,
    digest: digest(one.digest ?? wanted),
    generation,
    rank,
    size: 3,
    port: 50_000 + generation,
    meetPort: 0,
    endpointPort: 8_080,
    tokenPath: '/v1/chat/completions',
    tokenPointer: '/choices/0/message/content',
    tokenDeadlineMs: 20_000,
    logPattern: '',
    startedIn: one.startedIn ?? '',
    starts: one.starts ?? 0,
    isListening: state === 'joined',
    isMeeting: state === 'meeting',
    said: [],
    token: one.token ?? (rank === 0 && isUp ? answered : notAsked),
    ...one.changes,
  };
}

/** How launchd shows the rank of a member. */
export function rankService({ placement = 'kimi', state, lastExit = '1' }: MemberCase): LaunchdService {
  const label = `dev.meshwright.rank.${placement}`;
  switch (state) {
    case 'running':
    case 'meeting':
    case 'joined':
      return { label, state: 'running', pid: 4_711, runs: 1, lastExit: '(never exited)' };
    case 'ready':
      return { label, state: 'waiting', runs: 0, lastExit: '(never exited)' };
    case 'exited':
      return { label, state: 'waiting', runs: 1, lastExit };
    case 'absent':
    case 'stopped':
      return { label, state: 'not-loaded' };
  }
}

/** The facts that a node with these members shows. */
function memberValues(members: readonly MemberCase[], wanted: string): Partial<FactValues> {
  const there = members.filter(({ state }) => state !== 'absent');
  return {
    placements: there.filter(({ lacks }) => lacks !== 'record').map((one) => recordOf(one, wanted)),
    services: there.filter(({ lacks }) => lacks !== 'service').map(rankService),
  };
}

/** What the nodes of a rack show, beside what a healthy rack shows. */
export interface MeshRack {
  readonly members: Readonly<Record<string, readonly MemberCase[]>>;
  readonly unknown?: Readonly<Record<string, Partial<Record<FactName, UnknownReason>>>>;
  readonly unreachable?: readonly string[];
  readonly values?: Readonly<Record<string, Partial<FactValues>>>;
}

/** Observes a healthy rack of four with these members. */
export function observeMesh(fleet: DesiredFleet, { members, values = {}, ...rack }: MeshRack): FleetObservation {
  const wanted = digestOfKimi(fleet);
  const names = [...new Set([...Object.keys(members), ...Object.keys(values)])];
  const shown = names.map((name) => [name, { ...memberValues(members[name] ?? [], wanted), ...values[name] }]);
  return observedFleet({ ...rack, values: Object.fromEntries(shown) });
}

/** All three members of `kimi` in these states, ranks in order. */
export const threeMembers = (
  states: readonly [MemberState, MemberState, MemberState],
  all: Partial<MemberCase> = {},
): MeshRack['members'] => ({
  'studio-1': [{ ...all, state: states[0], rank: 0 }],
  'studio-2': [{ ...all, state: states[1], rank: 1 }],
  'studio-3': [{ ...all, state: states[2], rank: 2 }],
});
