import { describe, expect, it } from 'vitest';
import { plainText } from '../../../../../src/diagnostics/prose-text.ts';
import type { FactName, FactValues } from '../../../../../src/engine/observe/facts.ts';
import type { RdmaObject, RdmaProcess } from '../../../../../src/model/facts/rdma.ts';
import type { Link } from '../../../../../src/model/node.ts';
import { type LateRank, lateRank } from '../../../../../src/rack/placement/check/late-rank.ts';
import { meshFleet, observeMesh, type RankCase } from '../../../../rack/placements.ts';

const fleet = meshFleet();
const macs = fleet.nodes.map(({ name }) => name);
type Mac = (typeof macs)[number];
const { links } = fleet.thunderbolt;
const linksAt = (mac: Mac): readonly Link[] => links.filter(({ ends }) => ends.some(({ node }) => node === mac));
const macsAt = (link: Link): readonly Mac[] => link.ends.map(({ node }) => node);

/** A Mac of a mesh while it returns no token. */
interface HungMac {
  readonly rank: Omit<RankCase, 'rank'>;
  /** What its kernel holds for the rank; `stuck`: the rank waits in the driver. */
  readonly kernel: 'spins' | 'idle' | 'stuck' | 'no-queue-pair' | 'nothing' | 'leftovers';
  readonly values: Partial<FactValues>;
  readonly unknown: readonly FactName[];
  /** The receptacle of a device without an active peer. */
  readonly dark?: number;
}

interface Hang {
  readonly macs: ReadonlyMap<Mac, HungMac>;
  readonly dead: readonly Link[];
  readonly mentioned: readonly Link[];
}

const devices = ['rdma_en3', 'rdma_en4', 'rdma_en5'];

/** The facts of `ioclasscount`, `ioreg` and `ps` about a rank with pid 4711: one domain and one queue pair per device. */
function kernelOf({ kernel, dark }: HungMac): Pick<FactValues, 'rdma-objects' | 'rdma-holders'> {
  const isHeld = kernel !== 'nothing' && kernel !== 'leftovers';
  const isActive = isHeld && kernel !== 'stuck';
  const kinds: readonly RdmaObject['kind'][] = kernel === 'no-queue-pair' ? ['domain'] : ['domain', 'queue-pair'];
  const objects = kernel === 'nothing' ? [] : kinds.map((kind) => ({ kind, isActive, busy: 0 }));
  const process: RdmaProcess = {
    pid: 4_711,
    group: 4_711,
    program: 'python3.12',
    state: kernel === 'stuck' ? 'uninterruptible' : 'runs',
    ...(kernel === 'spins' ? { isOnCpu: true as const } : {}),
    isVerbsTool: false,
    devices,
  };
  const queuePairs = kinds.length === 2 ? 3 : 0;
  return {
    'rdma-objects': kernel === 'nothing' ? { domains: 0, queuePairs: 0 } : { domains: 3, queuePairs },
    'rdma-holders': {
      devices:
        kernel === 'nothing' ? [] : devices.map((device, at) => ({ device, powerState: at === dark ? 0 : 2, objects })),
      processes: isHeld ? [process] : [],
    },
  };
}

function judged({ macs: all, dead, mentioned }: Hang): LateRank | undefined {
  const cases = [...all].map(([mac, one], rank) => [mac, [{ ...one.rank, rank }]]);
  const values = [...all].map(([mac, one]) => [mac, { ...kernelOf(one), ...one.values }]);
  const gaps = [...all].map(([mac, one]) => [mac, Object.fromEntries(one.unknown.map((name) => [name, 'timed-out']))]);
  const { nodes } = observeMesh(fleet, {
    ranks: Object.fromEntries(cases) as Record<string, readonly RankCase[]>,
    values: Object.fromEntries(values) as Record<string, Partial<FactValues>>,
    unknown: Object.fromEntries(gaps) as Record<string, Record<FactName, 'timed-out'>>,
  });
  const seen = macs.map((name) => ({ name, facts: nodes[name]?.facts ?? {} }));
  return lateRank({ placement: 'kimi', nodes: seen, links, dead, mentioned });
}

const startedIn = (mac: Mac): string => `BOOT-${mac}`;

/** All ranks run and wait for each other, a core each. */
const spinning = (mac: Mac): HungMac => ({
  rank: { state: 'joined', startedIn: startedIn(mac), starts: 1 },
  kernel: 'spins',
  values: {},
  unknown: [],
});

/** After a start that failed, its rescue has stopped all ranks. */
const stopped = (mac: Mac): HungMac => ({
  ...spinning(mac),
  rank: { ...spinning(mac).rank, state: 'stopped' },
  kernel: 'nothing',
});

const hangOf = (
  of: (mac: Mac) => HungMac,
  late: Mac | undefined,
  changes: (own: HungMac) => Partial<HungMac>,
  more: Partial<Hang> = {},
): Hang => ({
  macs: new Map(macs.map((mac) => [mac, mac === late ? { ...of(mac), ...changes(of(mac)) } : of(mac)])),
  dead: [],
  mentioned: [],
  ...more,
});

const now = 1_790_000_000;
const panic = { name: 'a.panic', atEpochSeconds: now + 60, extensions: [] };

/** A kind of hang at one Mac, or at one of its cables. */
type Kind = (late: Mac, cable: Link) => Hang;
const hangOfNone: Kind = () => hangOf(spinning, undefined, () => ({}));

const onMac: Readonly<Record<string, Kind>> = {
  'rank suspended by a signal': (late) =>
    hangOf(spinning, late, ({ rank }) => ({ rank: { ...rank, suspended: [4_711] }, kernel: 'idle' })),
  'rank killed': (late) =>
    hangOf(spinning, late, ({ rank }) => ({
      rank: { ...rank, state: 'exited', lastExit: 'Killed: 9' },
      kernel: 'nothing',
    })),
  'Mac restarted after a power cut': (late) =>
    hangOf(spinning, late, ({ rank }) => ({
      rank: { ...rank, state: 'ready', startedIn: 'BOOT-old' },
      kernel: 'nothing',
    })),
  'Mac panicked': (late) =>
    hangOf(spinning, late, ({ rank }) => ({
      rank: { ...rank, state: 'ready', startedIn: 'BOOT-old' },
      kernel: 'nothing',
      values: { 'panic-reports': [panic] },
    })),
  'process stuck in the driver': (late) => hangOf(spinning, late, () => ({ kernel: 'stuck' })),
  'rank idle': (late) => hangOf(spinning, late, () => ({ kernel: 'idle' })),
  'queue pairs gone': (late) => hangOf(spinning, late, () => ({ kernel: 'no-queue-pair' })),
  'objects left in the kernel by a failed start': (late) => hangOf(stopped, late, () => ({ kernel: 'leftovers' })),
  'memory left by a stop': (late) =>
    hangOf(stopped, late, () => ({
      values: { 'reboot-mark': [{ placement: 'kimi', why: 'memory', wiredBytes: 4e11, baselineBytes: 8e9 }] },
    })),
  'RDMA hung, cables measured': (late) => hangOf(spinning, undefined, () => ({}), { dead: linksAt(late) }),
  'RDMA hung, named by the other ranks': (late) => hangOf(stopped, undefined, () => ({}), { mentioned: linksAt(late) }),
  'swap full': (late) => hangOf(spinning, late, () => ({ values: { swap: { usedMegabytes: 13_312 } } })),
};

const onCable: Readonly<Record<string, Kind>> = {
  'cable dead, measured': (_, cable) => hangOf(spinning, undefined, () => ({}), { dead: [cable] }),
  'cable dead, named by one rank': (_, cable) => hangOf(stopped, undefined, () => ({}), { mentioned: [cable] }),
  'device without an active peer': (_, cable) => {
    const [end] = cable.ends;
    return hangOf(spinning, end.node, () => ({ dark: end.receptacle - 2 }));
  },
};

/** A small generator, so that the hangs are the same in every run. */
function seeded(seed: number) {
  let state = seed;
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  return {
    chance: (share: number): boolean => next() < share,
    pick: <T>(all: readonly T[]): T => all[Math.floor(next() * all.length)] as T,
  };
}

type Seeded = ReturnType<typeof seeded>;

/** Oddities that have nothing to do with the hang. */
function withOddities({ macs: all, ...hang }: Hang, { chance, pick }: Seeded): Hang {
  const odd = [...all].map(([mac, one]): [Mac, HungMac] => {
    const values: Partial<FactValues> = {
      ...(chance(0.1) ? { swap: { usedMegabytes: pick([900, 9_500]) } } : {}),
      ...(chance(0.1) ? { 'panic-reports': [{ ...panic, atEpochSeconds: now + pick([-90_000, 30]) }] } : {}),
      ...one.values,
    };
    const isLeaky = one.kernel === 'nothing' && chance(0.01);
    return [mac, { ...one, values, kernel: isLeaky ? 'leftovers' : one.kernel }];
  });
  const mentioned = chance(0.05) ? [...new Set([...hang.mentioned, pick(links)])] : hang.mentioned;
  return { ...hang, macs: new Map(odd), mentioned };
}

const readFacts: readonly FactName[] = [
  'rdma-holders',
  'rdma-objects',
  'interfaces',
  'swap',
  'panic-reports',
  'services',
];

/** One observation: some facts are unknown, and a rank that spins may be seen off its core. */
const observed = ({ macs: all, ...hang }: Hang, { chance }: Seeded): Hang => ({
  ...hang,
  macs: new Map(
    [...all].map(([mac, one]): [Mac, HungMac] => {
      const kernel = one.kernel === 'spins' && chance(0.01) ? 'idle' : one.kernel;
      return [mac, { ...one, kernel, unknown: readFacts.filter(() => chance(0.03)) }];
    }),
  ),
});

interface Counts {
  readonly hangs: number;
  readonly alone: number;
  readonly amongTwo: number;
}

/** By kind; a hang that one observation does not explain is observed again. */
function countHangs(seed: number, observations: number): Readonly<Record<string, Counts>> {
  const random = seeded(seed);
  const kinds = [...Object.entries(onMac), ...Object.entries(onCable)];
  const results = Array.from({ length: 200 }, (_, at) => {
    const [kind = '', make = hangOfNone] = kinds[at % kinds.length] ?? [];
    const [late, cable] = [random.pick(macs), random.pick(links)];
    const right = kind in onMac ? [late] : macsAt(cable);
    const hang = withOddities(make(late, cable), random);
    let named: readonly Mac[] = [];
    for (let left = observations; left > 0 && named.length === 0; left--)
      named = judged(observed(hang, random))?.macs ?? [];
    const isAmong = right.every((mac) => named.includes(mac));
    return { kind, isAmong, isAlone: isAmong && right.length === named.length };
  });
  return Object.fromEntries(
    kinds.map(([kind]) => {
      const own = results.filter((one) => one.kind === kind);
      const [alone, amongTwo] = [own.filter(({ isAlone }) => isAlone), own.filter(({ isAmong }) => isAmong)];
      return [kind, { hangs: own.length, alone: alone.length, amongTwo: amongTwo.length }];
    }),
  );
}

const sum = (counts: Readonly<Record<string, Counts>>, key: keyof Counts): number =>
  Object.values(counts).reduce((total, one) => total + one[key], 0);

const [, second = macs[0] as Mac, third = second] = macs;
const [cable = { index: 0, ends: [] as never }] = links;
const words = (late: LateRank | undefined): string => (late === undefined ? 'unknown' : plainText(late.text).trim());

describe('the late rank', () => {
  it.each([
    ['rank suspended by a signal', 'a signal has suspended its rank'],
    ['rank killed', 'no process runs its rank'],
    ['Mac restarted after a power cut', 'it restarted after the last start'],
    ['Mac panicked', 'it restarted after the last start because macOS panicked'],
    ['process stuck in the driver', 'a process hangs in its RDMA driver'],
    ['rank idle', 'its rank is idle while the others use a core each'],
    ['queue pairs gone', 'its rank has no queue pair'],
    [
      'objects left in the kernel by a failed start',
      'its kernel holds 3 protection domains and 3 queue pairs that no process uses',
    ],
    ['memory left by a stop', 'a stop there could not free everything'],
    ['RDMA hung, cables measured', 'a measurement got nothing through'],
    ['RDMA hung, named by the other ranks', 'ranks logged addresses of 3 of its cables'],
    ['swap full', '13 GB of swap is in use, more than 8 GB'],
  ])('is on the Mac with this sign: %s', (kind, why) => {
    const late = judged(onMac[kind]?.(second, cable) ?? hangOfNone(second, cable));
    expect([words(late), late?.isWeak]).toEqual([`The evidence points to studio-2 (${why}).`, kind === 'swap full']);
  });

  it.each([
    ['cable dead, measured', 'a measurement got nothing through'],
    ['cable dead, named by one rank', 'a rank logged an address of it'],
    ['device without an active peer', 'one end has no active peer'],
  ])('is at either end of a cable with this sign: %s', (kind, why) => {
    const late = judged(onCable[kind]?.(second, cable) ?? hangOfNone(second, cable));
    expect([words(late), late?.macs]).toEqual([
      `The evidence points to the cable studio-1:2 <-> studio-2:2 (${why}).`,
      ['studio-1', 'studio-2'],
    ]);
  });

  it('may be on a Mac where another program has the devices open', () => {
    const stranger = { pid: 99, program: 'python3.12', state: 'runs', isVerbsTool: false, devices } as const;
    const values = { 'rdma-holders': { devices: [], processes: [stranger] } };
    const late = judged(hangOf(spinning, second, () => ({ values })));
    expect([words(late), late?.isWeak]).toEqual([
      'The evidence points to studio-2 (python3.12 (pid 99) has its RDMA devices open).',
      true,
    ]);
  });

  it('is one of two Macs with the same sign, and a weaker sign tells which', () => {
    const [two, also] = [hangOf(stopped, second, () => ({ kernel: 'leftovers' })), stopped(third)];
    const both = new Map([...two.macs, [third, { ...also, kernel: 'leftovers' as const }]]);
    const why = 'its kernel holds 3 protection domains and 3 queue pairs that no process uses';
    expect(words(judged({ ...two, macs: both }))).toBe(
      `The evidence points to studio-2 (${why}) or studio-3 (${why}), but does not tell which.`,
    );
    expect(judged({ ...two, macs: both, mentioned: linksAt(third) })?.macs).toEqual([third]);
  });

  it('is unknown if nothing singles out a Mac: all ranks spin, all are idle, or only one spins', () => {
    const idle = (mac: Mac): HungMac => ({ ...spinning(mac), kernel: 'idle' });
    const all = [hangOf(spinning, undefined, () => ({})), hangOf(idle, undefined, () => ({}))];
    expect([...all, hangOf(idle, second, () => ({ kernel: 'spins' }))].map((one) => words(judged(one)))).toEqual(
      Array(3).fill('unknown'),
    );
    expect(words(judged({ ...hangOf(spinning, undefined, () => ({})), dead: links }))).toBe('unknown');
  });

  it('is unknown if the facts that would show it are unknown', () => {
    const kinds = ['process stuck in the driver', 'rank idle', 'queue pairs gone', 'rank killed'];
    const blind = kinds.map((kind) => {
      const hang = onMac[kind]?.(second, cable) ?? hangOfNone(second, cable);
      const unknown: readonly FactName[] = ['rdma-holders', 'rdma-objects', 'services'];
      return words(judged({ ...hang, macs: new Map([...hang.macs].map(([mac, one]) => [mac, { ...one, unknown }])) }));
    });
    expect(blind).toEqual(kinds.map(() => 'unknown'));
  });
});

describe('the late rank of 200 seeded hangs', () => {
  it('is found by at most three observations: alone in 80 %, counting both ends of a cable, among two in 95 %', () => {
    const counts = countHangs(52, 3);
    const text = Object.entries(counts).map(([kind, { hangs, alone, amongTwo }]) =>
      [kind, `${alone} alone, ${amongTwo} among two of ${hangs}`].join(': '),
    );
    expect(text).toMatchInlineSnapshot(`
      [
        "rank suspended by a signal: 14 alone, 14 among two of 14",
        "rank killed: 14 alone, 14 among two of 14",
        "Mac restarted after a power cut: 14 alone, 14 among two of 14",
        "Mac panicked: 14 alone, 14 among two of 14",
        "process stuck in the driver: 14 alone, 14 among two of 14",
        "rank idle: 12 alone, 12 among two of 13",
        "queue pairs gone: 13 alone, 13 among two of 13",
        "objects left in the kernel by a failed start: 12 alone, 12 among two of 13",
        "memory left by a stop: 12 alone, 12 among two of 13",
        "RDMA hung, cables measured: 13 alone, 13 among two of 13",
        "RDMA hung, named by the other ranks: 12 alone, 12 among two of 13",
        "swap full: 10 alone, 11 among two of 13",
        "cable dead, measured: 13 alone, 13 among two of 13",
        "cable dead, named by one rank: 11 alone, 11 among two of 13",
        "device without an active peer: 12 alone, 12 among two of 13",
      ]
    `);
    expect(sum(counts, 'hangs')).toBe(200);
    expect(sum(counts, 'alone')).toBeGreaterThanOrEqual(160);
    expect(sum(counts, 'amongTwo')).toBeGreaterThanOrEqual(190);
  });

  it('is found by the first observation in 80 %', () => {
    expect(sum(countHangs(1, 1), 'alone')).toBeGreaterThanOrEqual(160);
  });
});
