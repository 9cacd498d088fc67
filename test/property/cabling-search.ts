/**
 * A search of its own for the least that hands have to do at a rack; it knows nothing of the product. What hands do is
 * counted plug by plug: to pull one plug, or to push one in. Plugs that are out lie about, as many as one likes, and
 * each of them can be pushed in; a cable that is fetched is one more with both plugs out.
 */

/** A cable with a plug in each of two receptacles. */
export interface RackCable {
  readonly ends: readonly [string, string];
  readonly isSlow: boolean;
}

/** A link that must be there in the end. */
export interface RackLink {
  readonly ends: readonly [string, string];
  /** Whether a slow cable is not good enough. */
  readonly isFast: boolean;
}

/** What has to be done at least. */
export interface Least {
  /** Plugs pulled and plugs pushed in, together. */
  readonly handlings: number;
  /** Cables fetched, where the handlings are as few as possible. */
  readonly fetched: number;
}

/** Where a plug is: nowhere, in a receptacle of a link (from 1), or in one of the others, which are all alike. */
type Place = number;
const out: Place = 0;
const elsewhere: Place = 63;

/** A cable as a number: its two places, the lower one first, and its speed. Cables with the same number are alike. */
type Code = number;
const codeOf = (one: Place, other: Place, isSlow: boolean): Code =>
  (isSlow ? 4096 : 0) + Math.max(one, other) * 64 + Math.min(one, other);
const low = (code: Code): Place => code % 64;
const high = (code: Code): Place => Math.floor(code / 64) % 64;
const isSlow = (code: Code): boolean => code >= 4096;
const isHalfIn = (code: Code): boolean => low(code) === out && high(code) !== out;

interface State {
  /** Sorted. */
  readonly codes: readonly Code[];
  readonly fetched: number;
}

const keyOf = ({ codes, fetched }: State): string => String.fromCharCode(fetched, ...codes);

interface Goal {
  readonly one: Place;
  readonly other: Place;
  readonly isFast: boolean;
}

const isGood = (goal: Goal, code: Code | undefined): code is Code =>
  code !== undefined && !(isSlow(code) && goal.isFast);

/** What is plugged into each receptacle of a link. */
function occupants(codes: readonly Code[]): ReadonlyMap<Place, Code> {
  const found = new Map<Place, Code>();
  for (const code of codes) found.set(low(code), code).set(high(code), code);
  return found;
}

const isMet = (goal: Goal, plugged: ReadonlyMap<Place, Code>): boolean => {
  const code = plugged.get(goal.one);
  return isGood(goal, code) && low(code) + high(code) === goal.one + goal.other && plugged.get(goal.other) === code;
};

/**
 * At least so many plugs are still to be handled for this link. Those at its own two receptacles belong to no other
 * link; beside them the far plug of a cable that stays has to come from elsewhere, and counts where nobody else counts it.
 */
function needOf(goal: Goal, goals: readonly Goal[], plugged: ReadonlyMap<Place, Code>): number {
  if (isMet(goal, plugged)) return 0;
  const here = [goal.one, goal.other].flatMap((place) => {
    const code = plugged.get(place);
    return code === undefined ? [] : [{ code, far: low(code) + high(code) - place }];
  });
  const good = here.filter(({ code }) => isGood(goal, code));
  const isFull = ({ one, other }: Goal): boolean => plugged.has(one) && plugged.has(other);
  const isCounted = (far: Place): boolean =>
    far === out || goals.some((any) => (any.one === far || any.other === far) && isFull(any));
  if (good.length === 2) return 2 + (good.every(({ far }) => far === elsewhere) ? 2 : 0);
  if (good.length === 1) return here.length + (good.every(({ far }) => isCounted(far)) ? 0 : 1);
  return here.length + 2;
}

function needs(state: State, goals: readonly Goal[]): number {
  const plugged = occupants(state.codes);
  return goals.reduce((sum, goal) => sum + needOf(goal, goals, plugged), 0);
}

/** At least so many cables are fetched in the end: every link needs one of its own, and a fast link a fast one. */
function fetchedAtLeast({ codes, fetched }: State, goals: readonly Goal[]): number {
  const fastGoals = goals.filter(({ isFast }) => isFast).length;
  const fastCables = codes.filter((code) => !isSlow(code)).length;
  return fetched + Math.max(0, goals.length - codes.length, fastGoals - fastCables);
}

function isDone({ codes }: State, goals: readonly Goal[]): boolean {
  const plugged = occupants(codes);
  return !codes.some(isHalfIn) && goals.every((goal) => isMet(goal, plugged));
}

const replaced = (codes: readonly Code[], before: Code, after: Code): readonly Code[] => {
  const rest = [...codes];
  if (codes.includes(before)) rest.splice(rest.indexOf(before), 1);
  return [...rest, after].sort((a, b) => a - b);
};

/** Every state after one more plug was pulled or pushed in; a cable is fetched when its first plug is pushed in. */
function next({ codes, fetched }: State, places: readonly Place[]): readonly State[] {
  const plugged = occupants(codes);
  const free = [...places.filter((place) => !plugged.has(place)), elsewhere];
  const states = [...new Set(codes)].flatMap((code) => {
    const [one, other] = [low(code), high(code)];
    const pulled = [one, other].flatMap((place) =>
      place === out ? [] : [codeOf(out, one + other - place, isSlow(code))],
    );
    const pushed = one === out ? free.map((place) => codeOf(place, other, isSlow(code))) : [];
    return [...new Set([...pulled, ...pushed])].map((after) => ({ codes: replaced(codes, code, after), fetched }));
  });
  const bought = free.map((place) => [...codes, codeOf(out, place, false)].sort((a, b) => a - b));
  return [...states, ...bought.map((more) => ({ codes: more, fetched: fetched + 1 }))];
}

interface Waiting {
  readonly state: State;
  readonly handlings: number;
}

/** The least that leads to all links, every cable being in or out at both ends; other cables may stay where they are. */
export function leastWork(cables: readonly RackCable[], links: readonly RackLink[]): Least {
  const names = links.flatMap(({ ends }) => [...ends]);
  const placeOf = (end: string): Place => (names.includes(end) ? names.indexOf(end) + 1 : elsewhere);
  const goals = links.map(({ ends, isFast }): Goal => ({ one: placeOf(ends[0]), other: placeOf(ends[1]), isFast }));
  const places = names.map(placeOf);
  const codes = cables.map((cable) => codeOf(placeOf(cable.ends[0]), placeOf(cable.ends[1]), cable.isSlow));
  const start: State = { codes: codes.sort((a, b) => a - b), fetched: 0 };
  const best = new Map([[keyOf(start), 0]]);
  /** By the handlings that they need in all at least, then by cables fetched: the first that is done is the best (A*). */
  const queues: Waiting[][][] = [];
  const wait = (total: number, one: Waiting): void => {
    const fetched = fetchedAtLeast(one.state, goals);
    queues[total] ??= [];
    queues[total][fetched] ??= [];
    queues[total][fetched]?.push(one);
  };
  wait(needs(start, goals), { state: start, handlings: 0 });
  for (let total = 0; total < queues.length; total += 1) {
    const level = queues[total] ?? [];
    for (let fetched = 0; fetched < level.length; fetched += 1) {
      for (let one = level[fetched]?.pop(); one !== undefined; one = level[fetched]?.pop()) {
        const { state, handlings } = one;
        if ((best.get(keyOf(state)) ?? 0) < handlings) continue;
        if (isDone(state, goals)) return { handlings, fetched: state.fetched };
        for (const after of next(state, places)) {
          const key = keyOf(after);
          if ((best.get(key) ?? Number.POSITIVE_INFINITY) <= handlings + 1) continue;
          best.set(key, handlings + 1);
          wait(Math.max(total, handlings + 1 + needs(after, goals)), { state: after, handlings: handlings + 1 });
        }
      }
    }
  }
  throw new Error('there is no way to these links');
}
