import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseLink } from '../../../../../src/desired/addresses.ts';
import type { Link } from '../../../../../src/model/node.ts';
import type { PeerPlan } from '../../../../../src/model/node-script.ts';
import { fanOut } from '../../../../../src/rack/artifacts/peers/fan-out.ts';
import { exchangeText } from '../../../../../src/rack/artifacts/peers/peer-scripts.ts';
import type { LinkJudgement } from '../../../../../src/rack/cabling/judge-cabling.ts';
import { anyDigest, nodes } from '../../../../rack/plans.ts';

/** A cable between two Macs by their numbers, and how it was judged. */
type Cable = readonly [number, number, LinkJudgement['kind']?];

const judged = (kind: LinkJudgement['kind']): LinkJudgement =>
  kind === 'slow' ? { kind, bitsPerSecond: 40e9, limitedBy: [] } : { kind };

interface Wish {
  readonly receivers: readonly number[];
  readonly seeds?: readonly number[];
  readonly first?: number;
  readonly isPrivate?: true;
  /** The numbers of cables that were measured as dead. */
  readonly dead?: readonly number[];
}

function plansFor(
  cables: readonly Cable[],
  { receivers, seeds = [], first, isPrivate, dead = [] }: Wish,
): readonly PeerPlan[] {
  const links = cables.map(([one, other, kind = 'as-declared'], index) => {
    const ends = parseLink(`studio-${one}:${other} <-> studio-${other}:${one}`);
    if (ends === undefined) throw new Error('no link');
    return { link: { index, ends } satisfies Link, judgement: judged(kind) };
  });
  const networks = Object.fromEntries(
    cables.map((_, index) => [index, { address: `10.77.${index}.0`, prefixLength: 30 }]),
  );
  const nothing = { at: '2026-11-27T10:00:00Z', carries: 'nothing' } as const;
  const measured = Object.fromEntries(dead.map((index) => [index, nothing]));
  const getting = nodes(...receivers);
  const wish = {
    digest: anyDigest,
    receivers: getting,
    seeds: nodes(...seeds),
    downloaders: first === undefined ? getting : nodes(first, ...receivers),
    ...(isPrivate === undefined ? {} : { isPrivate }),
  };
  return [...fanOut({ thunderbolt: { networks, measured } }, links, wish).values()];
}

const mesh: readonly Cable[] = [
  [1, 2],
  [1, 3],
  [1, 4],
  [2, 3],
  [2, 4],
  [3, 4],
];

/** `studio-2: receive 0/3 from studio-1*, studio-3`; a star marks an origin, `ssh` a source over SSH. */
const words = ({ self, role, stripe, sources }: PeerPlan): string =>
  role === 'serve'
    ? `${self}: serve`
    : `${self}: receive ${stripe.at}/${stripe.of} from ${sources.map(({ node, isOrigin, isOverSsh }) => `${isOverSsh ? 'ssh ' : ''}${node}${isOrigin ? '*' : ''}`).join(', ')}`;

describe('exchangeText', () => {
  const [plan] = plansFor([[1, 2]], { receivers: [1, 2] });

  it.each([
    [128e6, 1, 1],
    [40e9, 32, 1],
    [735e9, 64, 4],
  ])(
    'cuts a model of %d bytes into chunks of %d MiB, over %d connections per cable',
    (sizeBytes, mebibytes, streams) => {
      const text = exchangeText(plan as PeerPlan, [{ path: 'a b.bin', sha256: anyDigest, sizeBytes }]);
      expect(text.split('\n')).toEqual(
        expect.arrayContaining([
          `chunk ${mebibytes * 1_048_576}`,
          `streams ${streams}`,
          `listen 10.77.0.1 ${plan?.port}`,
          `file ${sizeBytes} a b.bin`,
        ]),
      );
    },
  );
});

describe('fanOut', () => {
  it('has one Mac download the model, and gives each of the others a different part of it', () => {
    expect(plansFor(mesh, { receivers: [1, 2, 3, 4] }).map(words)).toEqual([
      'studio-1: serve',
      'studio-2: receive 0/3 from studio-1*, studio-3, studio-4',
      'studio-3: receive 1/3 from studio-1*, studio-2, studio-4',
      'studio-4: receive 2/3 from studio-1*, studio-2, studio-3',
    ]);
  });

  it('has the specified Mac download the model', () => {
    const [, second] = plansFor(mesh, { receivers: [1, 2, 3, 4], first: 2 });
    expect(second).toMatchObject({ self: 'studio-2', role: 'serve', feeds: nodes(1, 3, 4) });
  });

  it('downloads nothing if a Mac has the model', () => {
    expect(plansFor(mesh, { receivers: [1, 2], seeds: [3, 4] }).map(words)).toEqual([
      'studio-1: receive 0/2 from studio-2, studio-3*, studio-4*',
      'studio-2: receive 1/2 from studio-1, studio-3*, studio-4*',
      'studio-3: serve',
      'studio-4: serve',
    ]);
  });

  it('listens on the addresses of its own cables and connects to the far ends', () => {
    const [one, two] = plansFor([[1, 2]], { receivers: [1, 2] });
    expect(one).toMatchObject({ listen: ['10.77.0.1'], sources: [], feeds: nodes(2) });
    expect(two).toMatchObject({ listen: ['10.77.0.2'], feeds: [] });
    expect(two?.sources.map(({ address }) => address)).toEqual(['10.77.0.1']);
    expect(one?.port).toBe(two?.port);
  });

  it('passes a model along a row of cables', () => {
    const row: readonly Cable[] = [
      [1, 2],
      [2, 3],
    ];
    expect(plansFor(row, { receivers: [1, 2, 3] }).map(words)).toEqual([
      'studio-1: serve',
      'studio-2: receive 0/1 from studio-1*, studio-3',
      'studio-3: receive 0/1 from studio-2',
    ]);
  });

  it('goes around a cable that was measured as dead', () => {
    expect(plansFor(mesh, { receivers: [1, 2, 3], dead: [0] }).map(words)).toEqual([
      'studio-1: serve',
      'studio-3: receive 0/1 from studio-1*, studio-2',
      'studio-2: receive 0/1 from studio-3',
    ]);
  });

  it.each(['missing', 'elsewhere', 'one-sided', 'unknown'] as const)('does not use a cable that is %s', (kind) => {
    const plans = plansFor([[1, 2, kind]], { receivers: [1, 2] });
    expect(plans.map(({ listen }) => listen)).toEqual([['127.0.0.1'], []]);
    expect(plans[1]?.sources).toEqual([{ node: 'studio-1', isOrigin: true, isOverSsh: true }]);
  });

  it('passes a model from Mac to Mac in a chain if there are no cables', () => {
    const plans = plansFor([], { receivers: [1, 2, 3, 4, 5], first: 2 });
    expect(plans.map(words)).toEqual([
      'studio-1: receive 1/5 from ssh studio-2*',
      'studio-2: serve',
      'studio-3: receive 2/5 from ssh studio-1, ssh studio-2*',
      'studio-4: receive 3/5 from ssh studio-3, ssh studio-1, ssh studio-2*',
      'studio-5: receive 4/5 from ssh studio-4, ssh studio-3, ssh studio-2*',
    ]);
    expect(plans.map(({ mode }) => mode)).toEqual(['chain', 'mesh', 'chain', 'chain', 'chain']);
  });

  it('sends a model only once over Ethernet to a second group of cabled Macs', () => {
    const pairs: readonly Cable[] = [
      [1, 2],
      [3, 4],
    ];
    const plans = plansFor(pairs, { receivers: [1, 2, 3, 4] });
    expect(plans.map(words)).toEqual([
      'studio-1: serve',
      'studio-2: receive 0/1 from studio-1*',
      'studio-3: receive 1/2 from ssh studio-1*',
      'studio-4: receive 0/1 from studio-3*',
    ]);
    expect(plans.map(({ listen }) => listen.includes('127.0.0.1'))).toEqual([true, false, false, false]);
  });

  it('exchanges a private model over the cables through SSH', () => {
    const [one, two] = plansFor([[1, 2]], { receivers: [1, 2], isPrivate: true });
    expect(one).toMatchObject({ listen: ['127.0.0.1'], feeds: nodes(2) });
    expect(two).toMatchObject({ listen: [], mode: 'mesh' });
    expect(two?.sources).toEqual([{ node: 'studio-1', address: '10.77.0.1', isOrigin: true, isOverSsh: true }]);
    const text = exchangeText(two as PeerPlan, []);
    expect(text).toContain(`\npeer studio-1 10.77.0.1 ${two?.port} origin ssh\n`);
  });

  it('uses even a slow cable, because it carries IP', () => {
    expect(plansFor([[1, 2, 'slow']], { receivers: [1, 2] })).toHaveLength(2);
  });

  it('uses only one of the Macs that have the model if no cable leads to them', () => {
    expect(plansFor([[3, 4]], { receivers: [1, 2], seeds: [3, 4] }).map(words)).toEqual([
      'studio-1: receive 1/3 from ssh studio-3*',
      'studio-2: receive 2/3 from ssh studio-1, ssh studio-3*',
      'studio-3: serve',
    ]);
  });

  it('plans no exchange if no other Mac needs the model', () => {
    expect(plansFor([[3, 4]], { receivers: [1] })).toEqual([]);
    expect(plansFor([[3, 4]], { receivers: [], seeds: [3, 4] })).toEqual([]);
  });

  it('gives every Mac a path from the source, and downloads only if no Mac has the model', () => {
    const anyCable = fc
      .tuple(fc.integer({ min: 1, max: 7 }), fc.integer({ min: 1, max: 7 }))
      .filter(([one, other]) => one < other);
    const anyCables = fc.uniqueArray(anyCable, { selector: ([one, other]) => one * 10 + other, maxLength: 15 });
    const roles = fc.array(fc.constantFrom('receiver', 'seed', 'other'), { minLength: 7, maxLength: 7 });
    fc.assert(
      fc.property(anyCables, roles, fc.constantFrom(true as const, undefined), (cables, all, isPrivate) => {
        const numbersOf = (role: string) => all.flatMap((one, at) => (one === role ? [at + 1] : []));
        const receivers = numbersOf('receiver');
        const wish = { receivers, seeds: numbersOf('seed'), ...(isPrivate === undefined ? {} : { isPrivate }) };
        const plans = plansFor(cables, wish);
        const getting = plans.filter(({ role }) => role === 'receive').map(({ self }) => self);
        const missing = nodes(...receivers).filter((one) => !getting.includes(one));
        expect(missing.length).toBe(receivers.length > 0 && wish.seeds.length === 0 ? 1 : 0);
        const seeds = nodes(...numbersOf('seed'));
        const reached = new Set(plans.filter(({ role }) => role === 'serve').map(({ self }) => self));
        for (let grown = true; grown; ) {
          const next = plans.filter(
            (one) => !reached.has(one.self) && one.sources.some(({ node }) => reached.has(node)),
          );
          grown = next.length > 0;
          for (const { self } of next) reached.add(self);
        }
        expect([...reached].toSorted()).toEqual(plans.map(({ self }) => self).toSorted());
        for (const plan of plans) {
          for (const { node, address, isOverSsh } of plan.sources) {
            const source = plans.find(({ self }) => self === node);
            expect(source?.feeds).toContain(plan.self);
            expect(source?.listen).toContain(isOverSsh ? '127.0.0.1' : address);
            if (isPrivate || address === undefined) expect(isOverSsh).toBe(true);
          }
          // Only Macs that get chunks from an origin share the work, and each has a different part.
          if (plan.sources.some(({ isOrigin }) => isOrigin)) expect(plan.stripe.at).toBeLessThan(plan.stripe.of);
          const isSeed = seeds.includes(plan.self);
          if (isSeed) expect(plan.role).toBe('serve');
        }
      }),
    );
  });
});
