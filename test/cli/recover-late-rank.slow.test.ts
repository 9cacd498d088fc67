import { beforeAll, describe, expect, it } from 'vitest';
import { exampleText, prepareDemo } from '../../src/cli/sim/sim-example.ts';
import type { DoctorTrouble, RecoverDocument } from '../../src/model/documents.generated.ts';
import type { FaultName } from '../../src/sim/faults/faults.ts';
import { textOf } from '../architecture/sources.ts';
import { nativePartsTested } from '../native-parts.ts';
import { drawsBy } from '../property/mutations.ts';
import { isWhole, sampleOf, sampleSeed } from '../sample.ts';
import { placeOf } from './fleet.ts';
import { agreed, endFaults } from './follow-doctor.ts';
import { json, meshwright } from './meshwright.ts';

const macs = ['studio-1', 'studio-2', 'studio-3', 'studio-4'];

/** The receptacles of one end of each cable in the example, with the Mac at its other end. */
const cables = [
  ['studio-1:2', 'studio-2'],
  ['studio-1:3', 'studio-3'],
  ['studio-1:4', 'studio-4'],
  ['studio-2:3', 'studio-3'],
  ['studio-2:4', 'studio-4'],
  ['studio-3:4', 'studio-4'],
] as const;

const onMac: readonly FaultName[] = [
  ...(['rank-stopped', 'rank-killed', 'crash', 'power-cut'] as const),
  ...(['filevault-locked', 'rdma-hang', 'rdma-waiting', 'rdma-disabled'] as const),
];
const onCable: readonly FaultName[] = ['idle-dead-port', 'cable-missing'];

/** Without the program that measures cables, these are anywhere. */
const measured: readonly FaultName[] = ['rdma-hang', 'idle-dead-port'];

interface Hang {
  readonly fault: FaultName;
  readonly target: string;
  /** The Mac for which the others wait, or both ends of a cable. */
  readonly late: readonly string[];
}

/** Twenty hangs: each kind twice, on Macs and cables that follow from the seed. */
const below = drawsBy(sampleSeed);
const hangs = [...onMac, ...onCable].flatMap((fault) =>
  [0, 1].map((): Hang => {
    const mac = macs[below(macs.length)] ?? '';
    if (onMac.includes(fault)) return { fault, target: mac, late: [mac] };
    const [target, far] = cables[below(cables.length)] ?? ['', ''];
    return { fault, target, late: [target.replace(/:.*/, ''), far] };
  }),
);

const among = (text: string): readonly string[] => macs.filter((mac) => text.includes(mac));

/** The Macs that a problem is about: its subject, those that its evidence points to, or those that it describes. */
function namedBy({ subject = '', detail }: Pick<DoctorTrouble, 'subject' | 'detail'>): readonly string[] {
  const [, evidence = detail] = /The evidence points to (.*)/.exec(detail) ?? [];
  const own = among(subject);
  return own.length > 0 ? own : among(evidence);
}

const most = 3;
const isNarrow = (named: readonly string[]): boolean => named.length === 1 || named.length === 2;

const findable = hangs.filter(({ fault }) => nativePartsTested || !measured.includes(fault));

describe('the late rank of a mesh of four Macs', () => {
  const choice = { driver: 'mlx', isPublished: false } as const;
  const { place, run } = placeOf(exampleText(textOf('cluster.example.yaml'), choice), {
    write: (folder) => prepareDemo(folder, choice),
  });
  const found: { readonly isAlone: boolean; readonly isAmongTwo: boolean }[] = [];

  beforeAll(async () => {
    expect((await run('apply', '--sim', '--yes', '--update-lock')).code).toBe(0);
  });

  it.for(sampleOf(findable, { few: 1, oneIn: 20 }))(
    'is named by at most three observations, with what doctor asks for in between: $fault at $target',
    { timeout: 300_000 },
    async ({ fault, target, late }) => {
      expect((await run('sim', 'fault', fault, target)).code).toBe(0);
      await run('ask', 'chat', 'Hello', '--sim', '--deadline', '5s');
      let named: readonly string[] = [];
      try {
        for (let seen = 1; seen <= most && !isNarrow(named); seen += 1) {
          const document = json(await run('recover', '--check', '--sim', '--json')) as RecoverDocument;
          const { troubles } = document.measured as { readonly troubles: readonly DoctorTrouble[] };
          const first = troubles.find(({ severity }) => severity === 'error');
          named = first === undefined ? [] : namedBy(first);
          const [next] = first?.commands ?? [];
          if (!isNarrow(named) && seen < most && next !== undefined) await meshwright(place, agreed(next));
        }
      } finally {
        await endFaults(run);
      }
      const isAmong = late.every((mac) => named.includes(mac));
      found.push({ isAlone: isAmong && named.length === late.length, isAmongTwo: isAmong && named.length <= 2 });
      if (!isWhole) expect(named).toEqual(late.toSorted());
    },
  );

  it('is the right one alone in 80 %, and among two in 95 %', () => {
    const share = (key: keyof (typeof found)[number]): number => found.filter((one) => one[key]).length / found.length;
    expect(share('isAlone'), JSON.stringify(found)).toBeGreaterThanOrEqual(0.8);
    expect(share('isAmongTwo'), JSON.stringify(found)).toBeGreaterThanOrEqual(0.95);
  });
});
