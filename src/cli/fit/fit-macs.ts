import { memoryLabelBytes } from '../../desired/size.ts';
import type { DesiredFleet, DesiredNode } from '../../model/desired.ts';
import { macModel } from '../../model/macs/mac-models.ts';
import { nodeName } from '../../model/node.ts';
import { usageError } from '../verb/options.ts';

/** A Mac that a model is put on: of the file, or thought up. */
export type FitNode = Pick<DesiredNode, 'name' | 'hardware'>;

/** More than a placement has. */
const mostNodes = 16;

const example = 'Name nodes of the file, or Macs with their memory: --on studio-1,studio-2 or --on 2xMac15,14:512GB';

const thoughtUp = /^(?:([1-9][0-9]{0,2})x)?([A-Z][A-Za-z]{1,20}[0-9]{1,3},[0-9]{1,3}):([0-9]+(?:GB|GiB))$/;

/** The words of `--on`, one for each node or kind of Mac: a comma inside of an identifier parts nothing. */
export const onWords = (words: readonly string[]): readonly string[] =>
  words
    .flatMap((word) => word.split(/\+|,(?![0-9]{1,3}(?::|$))/))
    .map((word) => word.trim())
    .filter((word) => word !== '');

/** Whether a word is about Macs that are in no file. */
export const isThoughtUp = (word: string): boolean => /^(?:[0-9]+x)?[A-Z]/.test(word);

/**
 * The Macs that `--on` names, in rank order.
 *
 * @param fleet of the file; undefined where no word names a node of it
 * @throws FleetError `cli/usage`
 */
export function readMacs(words: readonly string[], fleet: DesiredFleet | undefined): readonly FitNode[] {
  const counts = new Map<string, number>();
  const nodes = words.flatMap((word) => (isThoughtUp(word) ? thinkUp(word, counts, fleet) : [declared(word, fleet)]));
  if (nodes.length === 0) throw usageError('--on is missing.', example);
  if (nodes.length > mostNodes) throw usageError(`A placement has at most ${mostNodes} nodes.`, example);
  const twice = nodes.find(({ name }, index) => nodes.findIndex((other) => other.name === name) < index);
  if (twice !== undefined) throw usageError(`${twice.name} is named twice.`, example);
  return nodes;
}

function declared(word: string, fleet: DesiredFleet | undefined): FitNode {
  const node = fleet?.nodes.find(({ name }) => name === word);
  if (node === undefined) throw usageError(`The file has no node ${JSON.stringify(word)}.`, example);
  if (node.hardware.memoryBytes === undefined) {
    throw usageError(`The file does not say the memory of ${word}.`, `Add it: hardware: { memory: 512GB } at ${word}.`);
  }
  return node;
}

/** Macs of one kind, numbered on over all words. */
function thinkUp(word: string, counts: Map<string, number>, fleet: DesiredFleet | undefined): readonly FitNode[] {
  const [, count = '1', model = '', memory = ''] = thoughtUp.exec(word) ?? [];
  const memoryBytes = memoryLabelBytes(memory);
  if (memoryBytes === undefined) throw usageError(`${JSON.stringify(word)} is no number of Macs with memory.`, example);
  const short = (macModel(model)?.name.split(' ')[1] ?? 'mac').toLowerCase();
  return Array.from({ length: Number(count) }, () => {
    const number = (counts.get(short) ?? 0) + 1;
    counts.set(short, number);
    const name = `${short}-${number}`;
    const isTaken = fleet?.nodes.some((node) => node.name === name) ?? false;
    return { name: nodeName(isTaken ? `new-${name}` : name), hardware: { model, memoryBytes } };
  });
}

/** As many Macs like these as a placement may have besides them, under further names; none where they are unequal. */
export function moreLike(macs: readonly FitNode[]): readonly FitNode[] {
  const last = macs.at(-1);
  const isAlike = ({ hardware: { model, memoryBytes } }: FitNode): boolean =>
    model === last?.hardware.model && memoryBytes === last?.hardware.memoryBytes;
  if (!macs.every(isAlike)) return [];
  const [, stem = '', number = '0'] = /^(.*?)-([0-9]+)$/.exec(last?.name ?? '') ?? [];
  if (last === undefined || stem === '') return [];
  return Array.from({ length: mostNodes - macs.length }, (_, index) => ({
    name: nodeName(`${stem}-${Number(number) + 1 + index}`),
    hardware: last.hardware,
  }));
}
