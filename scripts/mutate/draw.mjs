/** Draws mutants by a seed. */
import { createHash } from 'node:crypto';

/** A number from 0 to 1 that follows from these words. */
const drawn = (...words) => createHash('sha256').update(words.join(' ')).digest().readUInt32BE() / 2 ** 32;

const inOrder = (list, ranksOf) =>
  list
    .map((one) => ({ one, ranks: ranksOf(one) }))
    .sort(({ ranks: [a, b] }, { ranks: [c, d] }) => a - c || b - d)
    .map(({ one }) => one);

/** Each file once. A file with four times as many possible mutants is twice as likely to be the next one. */
export const drawnFiles = (seed, files, countOf) =>
  inOrder(files, (file) => [-Math.log(1 - drawn(seed, file)) / Math.sqrt(countOf(file)), 0]);

/** A file's mutants: by operator, then by place, so that rare operators count as much as frequent ones. */
export const drawnMutants = (seed, file, mutants) =>
  inOrder(mutants, ({ operator, start, end, text }) => [
    drawn(seed, file, operator),
    drawn(seed, file, start, end, text),
  ]);
