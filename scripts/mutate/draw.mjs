/** Selects the mutants to try: areas, and an order drawn from a seed. */

/** The project's areas, each with the percentage of mutants that must be killed. Node scripts are a separate area. */
export const areas = [
  { name: 'rack, node', folders: ['src/rack', 'src/node'] },
  { name: 'desired, config', folders: ['src/desired', 'src/config'] },
  { name: 'engine', folders: ['src/engine'] },
  { name: 'apply, drivers', folders: ['src/apply', 'src/drivers'] },
  { name: 'scripts (shell text)', folders: ['src/node', 'src/rack', 'src/engine'], isShell: true, bar: 75 },
  { name: 'remote, gateway, secrets', folders: ['src/remote', 'src/gateway', 'src/secrets'], bar: 75 },
];

/** Pseudorandom numbers from 0 to 1 that follow from a text (mulberry32 over FNV-1a). */
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
 * All mutants of an area, in the order in which they are tried. Files are in drawn order, and each file has one mutant
 * before any file has a second one. Within a file, the operator is drawn before its place, so that rare operators count
 * as much as frequent ones.
 *
 * @param seed a text
 * @param mutantsOf returns the mutants of a file
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

/** Divides a number of mutants among the areas. */
export const shares = (count, parts) =>
  Array.from({ length: parts }, (_, at) => Math.floor(count / parts) + (at < count % parts ? 1 : 0));
