import { shortDigest } from '../../model/digest.ts';
import type { KeptFile } from '../../model/facts/fact-values.ts';
import { type Known, known } from '../../model/known.ts';
import type { NodeName } from '../../model/node.ts';
import type { Step } from '../../model/step.ts';
import { type Addressed, addressed } from '../../model/subject.ts';
import { doormanKeysFile, keysFolder } from '../../node/paths/own-paths.ts';
import { textDigest } from '../../node/put-file.ts';
import { buildStep } from '../build-step.ts';
import { type PublishedPlacement, type WantedDoorman, wantedKeys } from '../placement/doors/gateways.ts';
import type { Property } from '../resource.ts';
import { knownWords } from '../seen-fact.ts';

const putDeadlineMs = 30_000;

/** The files that were put on a node. */
interface Kept {
  readonly files: readonly KeptFile[];
}

/** The address of the key file of a placement. */
const keysAddress = (port: number, placement: string): Addressed =>
  addressed({ kind: 'doorman', port, placement, part: 'keys' });

const stateWords: Readonly<Record<string, string>> = { absent: 'not there', changed: 'not as the file wants it' };

/**
 * The key file of each placement of a doorman. A key that cannot be read leaves that one file as it is, since its hash
 * may be among those there, and no other. Nothing where nobody has tried to read the keys: a verb that only stops or
 * starts what was applied needs none.
 */
export const keysProperties = (
  node: NodeName,
  { port, placements }: WantedDoorman,
  seen: Known<Kept>,
): readonly Property[] => placements.flatMap((placement) => keysProperty(node, port, placement, seen));

function keysProperty(
  node: NodeName,
  port: number,
  placement: PublishedPlacement,
  seen: Known<Kept>,
): readonly Property[] {
  const keys = wantedKeys(placement);
  if (keys === undefined) return [];
  const { name } = placement;
  const about = { node, ...keysAddress(port, name), to: 'the keys of the file', reason: reasonOf(name) } as const;
  if (keys.kind === 'unknown') {
    const from = knownWords(keys, () => '');
    return [{ ...about, desired: 'unknown', observed: keys, from, why: keys.detail }];
  }
  const desired = shortDigest(textDigest(keys.value));
  const observed = seen.kind === 'unknown' ? seen : known(stateOf(seen.value, port, name));
  const from = knownWords(observed, (value) => (value === desired ? 'as wanted' : (stateWords[value] ?? 'other keys')));
  return [{ ...about, desired, observed, from }];
}

const reasonOf = (placement: string): string => `placements.${placement}.endpoint.apiKey`;

function stateOf({ files }: Kept, port: number, placement: string): string {
  const { path } = doormanKeysFile(port, placement);
  const kept = files.find((one) => one.path === path);
  if (kept === undefined || kept.state === 'missing') return 'absent';
  return kept.state === 'intact' ? kept.digest.slice(0, 16) : kept.state;
}

/** Puts each key file that is to be another one; none of them waits for another. */
export function keysSteps({ port, placements }: WantedDoorman, makes: readonly Property[]): readonly Step[] {
  return placements.flatMap((placement) => {
    const property = makes.find(({ address }) => address === keysAddress(port, placement.name).address);
    const keys = wantedKeys(placement);
    if (property === undefined || keys?.kind !== 'known') return [];
    const path = doormanKeysFile(port, placement.name);
    return [
      buildStep({
        node: property.node,
        resource: 'doorman',
        name: `${property.address}/put`,
        class: 'converge',
        act: { kind: 'put', path, mode: 0o644, content: keys.value },
        makes: [property],
        deadlineMs: putDeadlineMs,
      }),
    ];
  });
}

/** Placements for which a key file lies at a doorman, whether they are behind it or not. */
export function keyedAt(port: number, { files }: Kept): readonly string[] {
  const folder = `${keysFolder(port).path}/`;
  return files.flatMap(({ path }) => (path.startsWith(folder) ? [path.slice(folder.length)] : [])).toSorted();
}
