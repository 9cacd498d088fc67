import { describe, expect, it } from 'vitest';
import { diagnose } from '../../src/diagnostics/diagnose.ts';
import { fleetFindings } from '../../src/engine/diagnose/diagnose-fleet.ts';
import { type Cure, nextCure } from '../../src/engine/diagnose/next-cure.ts';
import { troublesOf, withoutConsequences } from '../../src/engine/diagnose/troubles.ts';
import type { FactValues } from '../../src/engine/observe/facts.ts';
import { withoutVainCommands } from '../../src/engine/plan/vain-commands.ts';
import { viewOf } from '../../src/engine/plan/view.ts';
import type { DesiredFleet } from '../../src/model/desired.ts';
import { digestOf, shortDigest } from '../../src/model/digest.ts';
import { given } from '../../src/model/given.ts';
import { measuredLinks, type NewestMeasurement } from '../../src/model/measured-cable.ts';
import { linkEndText, nodeName } from '../../src/model/node.ts';
import { nodeSubject } from '../../src/model/subject.ts';
import { placementFindings } from '../../src/rack/placement/check/placement-findings.ts';
import { surveyPlacements } from '../../src/rack/placement/check/placement-survey.ts';
import { goodCables } from '../../src/rack/placement/check/rdma-suspicions.ts';
import { meshFleet, observeMesh, type RankCase } from '../rack/placements.ts';
import { meshOfFour, settledFacts } from '../rack/rack.ts';
import { sampleOf, sampleSeed } from '../sample.ts';
import { type Draw, drawsBy } from './mutations.ts';

const base = meshFleet({ placement: { transport: 'rdma' } });
const fleet: DesiredFleet = { ...base, system: { ...base.system, wiredLimit: { kind: 'bytes', bytes: 2 ** 38 } } };
const names = fleet.nodes.map(({ name }) => name);
const members = fleet.placements.flatMap(({ nodes }) => nodes).map(String);
const links = fleet.thunderbolt.links.filter(({ ends }) => ends.every(({ node }) => members.includes(node)));
const trees: FactValues['trees'] = [
  { kind: 'runtime', name: 'reference', digest: shortDigest(digestOf('archive')), isCurrent: true, state: 'intact' },
  { kind: 'model', name: 'tiny', digest: shortDigest(digestOf('model')), isCurrent: false, state: 'intact' },
];

/** A Mac of the placement. */
interface Mac {
  power: 'on' | 'restarting' | 'off';
  session: number;
  bootedAtSeconds: number;
  rank: RankCase['state'];
  /** The boot session of its last start. */
  startedIn: number;
  isSuspended: boolean;
  /** Its RDMA answers again only after a restart. */
  isHung: boolean;
  /** A stop has left memory that only a restart frees. */
  hasLeak: boolean;
  outcome?: 'hung' | 'failed' | undefined;
  failedIn?: string | undefined;
}

/** A rack of three Macs that exists only as facts. The real code judges it; what a cure does to it is written here. */
function startRack() {
  const macs = new Map<string, Mac>();
  for (const name of members) {
    const healthy = { power: 'on', isSuspended: false, isHung: false, hasLeak: false, rank: 'joined' } as const;
    macs.set(name, { ...healthy, session: 1, startedIn: 1, bootedAtSeconds: 1_790_000_000 });
  }
  const mac = (name: string): Mac => macs.get(name) ?? expect.fail(`there is no ${name}`);
  let nowSeconds = 1_790_100_000;
  /** The cable between the first two Macs: dead, although both Macs see it. */
  let isCableDead = false;
  let isCablePulled = false;
  let measured: readonly NewestMeasurement[] = [];

  const every = (is: (one: Mac) => boolean): boolean => [...macs.values()].every(is);
  const isDark = (): boolean => isCableDead || isCablePulled;
  const serves = (): boolean =>
    !isDark() && every((one) => one.power === 'on' && one.rank === 'joined' && !one.isSuspended && !one.isHung);
  const needsReboot = (): boolean =>
    isCableDead ||
    !every((one) => !one.isHung && !one.hasLeak && !(one.outcome === 'failed' && one.startedIn === one.session));
  const needsHands = (): boolean => isDark() || !every((one) => one.power !== 'off');

  function boot(name: string): void {
    const one = mac(name);
    Object.assign(one, { power: 'on', rank: 'ready', isSuspended: false, isHung: false, hasLeak: false });
    Object.assign(one, { session: one.session + 1, bootedAtSeconds: nowSeconds });
  }

  function stop(): void {
    for (const one of macs.values())
      if (one.power === 'on') {
        if (one.rank === 'joined') one.outcome = serves() ? undefined : 'hung';
        Object.assign(one, { rank: one.rank === 'ready' ? 'ready' : 'stopped', isSuspended: false });
      }
  }

  function start(): void {
    const works = !isDark() && every((one) => one.power === 'on' && !one.isHung && !one.hasLeak);
    for (const one of macs.values())
      if (one.power === 'on') {
        const isEarlier = one.outcome === 'failed' && one.startedIn !== one.session;
        const failedIn = isEarlier ? `BOOT-${one.startedIn}` : one.failedIn;
        Object.assign(one, { rank: works ? 'joined' : 'stopped', startedIn: one.session, isSuspended: false });
        Object.assign(one, works ? { outcome: undefined, failedIn: undefined } : { outcome: 'failed', failedIn });
      }
  }

  function measure(): void {
    const at = new Date(nowSeconds * 1_000).toISOString();
    measured = links.map(({ ends }, index): NewestMeasurement => {
      const isDead = (index === 0 && isDark()) || ends.some(({ node }) => mac(node).isHung);
      const [one, other] = ends.map(linkEndText);
      return {
        at,
        cable: { ends: [one ?? '', other ?? ''], verdict: isDead ? 'dead' : 'good' } as NewestMeasurement['cable'],
      };
    });
  }

  function observe() {
    const cables = isCablePulled ? meshOfFour.filter((one) => one !== meshOfFour[0]) : meshOfFour;
    const away = members.filter((name) => mac(name).power !== 'on');
    const ranks = members.map((name, rank) => {
      const one = mac(name);
      const token = rank === 0 && !serves() ? { kind: 'silent', reason: 'timed out', isTimeout: true } : undefined;
      const state = one.rank === 'joined' && rank > 0 ? 'running' : one.rank;
      const changes = given({ outcome: one.outcome, failedIn: one.failedIn });
      const suspended = one.isSuspended ? [4_711] : undefined;
      const isUp = one.rank === 'joined';
      return [
        name,
        [
          {
            ...{ state, rank, changes, starts: 1, startedIn: `BOOT-${name}-${one.startedIn}` },
            ...given({ suspended, token: isUp ? token : undefined }),
          } as RankCase,
        ],
      ] as const;
    });
    const values = names.map((name) => {
      const { placements: _, services: __, ...facts } = settledFacts(name, cables);
      const one = macs.get(name);
      const session = { uuid: `BOOT-${name}-${one?.session}`, bootedAtEpochSeconds: one?.bootedAtSeconds ?? 0 };
      const mark = { placement: 'kimi', why: 'memory', wiredBytes: 4e11, baselineBytes: 8e9 } as const;
      const own = { 'boot-session': session, 'reboot-mark': one?.hasLeak === true ? [mark] : [] };
      return [name, { ...facts, trees, 'wired-limit': { megabytes: 2 ** 18 }, ...own }] as const;
    });
    const seen = observeMesh(fleet, {
      ...{ ranks: Object.fromEntries(ranks), values: Object.fromEntries(values), cables, unreachable: away },
    });
    const failure = (name: string) =>
      diagnose('ssh/timed-out', { subject: nodeSubject(nodeName(name)), detail: 'It does not answer.' });
    return { ...seen, failures: Object.fromEntries(away.map((name) => [name, [failure(name)]])) };
  }

  /** What `recover` sees of the rack. */
  function look(tried: readonly Cure[]) {
    const observation = observe();
    const carried = measuredLinks(fleet.thunderbolt.links, measured);
    const desired = { ...fleet, thunderbolt: { ...fleet.thunderbolt, measured: carried, canMeasure: true } };
    const view = viewOf({ desired, observation, targets: names });
    const placements = surveyPlacements(view);
    const broken = fleetFindings(fleet, observation, measured);
    const findings = withoutConsequences([...broken, ...placementFindings(view, placements)], placements);
    const found = troublesOf({ desired, observation, findings, placements });
    const troubles = withoutVainCommands(found, { desired, observation });
    const cabled = goodCables(view, placements);
    const seen = { troubles, placements, observation, cabled, clients: [], changed: [], outlets: [] };
    return nextCure(seen, ['kimi'], tried);
  }

  const effects: Readonly<Record<Cure['rung'], (of: readonly string[]) => void>> = {
    wait: (of) => {
      for (const name of of) if (mac(name).power === 'restarting') boot(name);
    },
    continue: () => {
      for (const one of macs.values()) one.isSuspended = false;
    },
    gateway: () => undefined,
    instance: start,
    network: () => undefined,
    measure: () => {
      if (every(({ rank }) => rank !== 'joined')) measure();
    },
    start,
    stop,
    restart: () => {
      stop();
      start();
    },
    reboot: (of) => {
      stop();
      of.forEach(boot);
      start();
    },
    'power-cycle': () => undefined,
  };
  const pass = (): void => {
    nowSeconds += 100;
  };
  const faults: Readonly<Record<string, (name: string) => void>> = {
    suspended: (name) => Object.assign(mac(name), { isSuspended: mac(name).rank === 'joined' }),
    killed: (name) => Object.assign(mac(name), mac(name).rank === 'joined' ? { rank: 'exited' } : {}),
    crashed: (name) => Object.assign(mac(name), { power: 'restarting' }),
    off: (name) => Object.assign(mac(name), { power: 'off' }),
    hung: (name) => Object.assign(mac(name), { isHung: true }),
    leaked: (name) => Object.assign(mac(name), { hasLeak: true }),
    'stopped by hand': stop,
    'cable dead': () => {
      isCableDead = true;
    },
    'cable pulled': () => {
      isCablePulled = true;
    },
  };
  const hands = (): void => {
    isCableDead = false;
    isCablePulled = false;
    for (const [name, { power }] of macs) if (power !== 'on') boot(name);
  };
  return { macs, faults, look, serves, needsReboot, needsHands, hands, pass, effects };
}

type Rack = ReturnType<typeof startRack>;

/** Runs cures until none is left, with more faults in between. Returns what happened. */
function recover(rack: Rack, draw: Draw, said: string[], more: number): 'serving' | 'person' {
  const tried: Cure[] = [];
  let left = more;
  for (;;) {
    const next = rack.look(tried);
    const about = said.join(', then ');
    expect(next.kind === 'serving', about).toBe(rack.serves());
    if (next.kind !== 'cure') return next.kind;
    const { rung, names: of } = next.cure;
    said.push(`${rung} ${of.join(' ')}`);
    const macs = [...rack.macs.values()];
    if (rung === 'start' || rung === 'restart' || rung === 'reboot')
      expect(
        macs.filter(({ power }) => power !== 'on'),
        `${about}, then ${rung} while a Mac is away`,
      ).toEqual([]);
    if (rung === 'start' || rung === 'restart')
      expect(
        macs.filter(({ hasLeak }) => hasLeak),
        `${about}, then ${rung} on leaked memory`,
      ).toEqual([]);
    if (rung === 'reboot') expect(rack.needsReboot(), `${about}, then a needless reboot`).toBe(true);
    rack.effects[rung](of);
    rack.pass();
    tried.push(next.cure);
    expect(tried.length, about).toBeLessThan(15);
    // A cure that worked and a new fault look like a cure that failed, and none is repeated.
    if (left > 0 && !rack.serves() && draw(4) === 0) {
      said.push(addFault(rack, draw));
      left -= 1;
    }
  }
}

function addFault({ faults }: Rack, draw: Draw): string {
  const all = Object.keys(faults);
  const fault = all[draw(all.length)] ?? '';
  const name = members[draw(members.length)] ?? '';
  faults[fault]?.(name);
  return `${fault} (${name})`;
}

const seeds = Array.from({ length: 240 }, (_, at) => (sampleSeed + at) >>> 0);

describe('recover, on a rack that exists only as facts', () => {
  it.each(sampleOf(seeds, { few: 10, oneIn: 6 }))(
    'leaves a placement down only for a person, and serves after that person: seed %i',
    (seed) => {
      const draw = drawsBy(seed);
      const rack = startRack();
      const said: string[] = [];
      for (let count = 1 + draw(3); count > 0; count -= 1) said.push(addFault(rack, draw));
      const end = recover(rack, draw, said, 1);
      said.push(end);
      if (end === 'person') {
        expect(rack.needsHands(), said.join(', then ')).toBe(true);
        rack.hands();
        said.push('everything repaired by hand');
        expect(recover(rack, draw, said, 0), said.join(', then ')).toBe('serving');
      }
    },
  );
});
