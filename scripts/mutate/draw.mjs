/** Which mutants are tried: areas, and an order that a seed draws. */

/** The areas of the project and how many per cent of the mutants of an area, or of all, have to be killed. Scripts for nodes are an area of their own. */
export const areas = [
  { name: 'rack, node', folders: ['src/rack', 'src/node'] },
  { name: 'desired, config', folders: ['src/desired', 'src/config'] },
  { name: 'engine', folders: ['src/engine'] },
  { name: 'apply, drivers', folders: ['src/apply', 'src/drivers'] },
  { name: 'scripts (shell text)', folders: ['src/node', 'src/rack', 'src/engine'], isShell: true, bar: 75 },
  { name: 'remote, gateway, secrets', folders: ['src/remote', 'src/gateway', 'src/secrets'], bar: 75 },
];

/** Numbers from 0 up to 1 that follow from a text (mulberry32 over FNV-1a). */
function* numbers(text) {
  let state = [...text].reduce((hash, letter) => Math.imul(hash ^ letter.charCodeAt(0), 16_777_619), 2_166_136_261);
  for (;;) {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    yield ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
}

/**
 * All mutants of an area in the order in which they are tried. Files come in drawn order, each with one mutant before
 * any has a second one. Of a file an operator is drawn first and then its place, so that rare operators count as much
 * as frequent ones.
 *
 * @param seed a text
 * @param mutantsOf gives the mutants of a file
 */
export function* drawn(seed, files, mutantsOf) {
  const random = numbers(seed);
  const below = (length) => Math.floor(random.next().value * length);
  let left = [];
  for (const from = [...files]; from.length > 0; ) {
    const [file] = from.splice(below(from.length), 1);
    left.push({ file });
  }
  while (left.length > 0) {
    for (const one of left) {
      one.operators ??= byOperator(mutantsOf(one.file));
      if (one.operators.length === 0) continue;
      const at = below(one.operators.length);
      const [mutant] = one.operators[at].splice(below(one.operators[at].length), 1);
      if (one.operators[at].length === 0) one.operators.splice(at, 1);
      yield mutant;
    }
    left = left.filter(({ operators }) => operators.length > 0);
  }
}

function byOperator(mutants) {
  const groups = new Map();
  for (const one of mutants) groups.set(one.operator, [...(groups.get(one.operator) ?? []), one]);
  return [...groups.values()];
}

/** How many mutants each of so many areas gets. */
export const shares = (count, parts) =>
  Array.from({ length: parts }, (_, at) => Math.floor(count / parts) + (at < count % parts ? 1 : 0));
