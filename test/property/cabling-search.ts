/**
 * A search for the least manual work at a rack, independent of the product. Each unplugging and each plugging in counts
 * once. Any number of plugs may be out at a time. A fetched cable starts with both plugs out.
 */

/** A cable with a plug in each of two receptacles. */
export interface RackCable {
  readonly ends: readonly [string, string];
  readonly isSlow: boolean;
}

/** A link that must exist at the end. */
export interface RackLink {
  readonly ends: readonly [string, string];
  /** True if the link needs a fast cable. */
  readonly isFast: boolean;
}

/** The least work. */
export interface Least {
  /** The number of plugs unplugged or plugged in. */
  readonly handlings: number;
  /** The number of fetched cables in that case. */
  readonly fetched: number;
}

/** The place of a plug: out, in a receptacle of a link (from 1), or in any other receptacle. */
type Place = number;
const out: Place = 0;
const elsewhere: Place = 63;

/** A cable as a number: its two places, the lower one first, and its speed. Cables with equal numbers are equivalent. */
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

/** The cable in each receptacle of a link. */
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
 * A lower bound of handlings for this link. Plugs at its own two receptacles belong to no other link. The far plug of
 * a cable that stays must also move, and counts here unless a different link counts it.
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

/** A lower bound of fetched cables: every link needs a cable, and a fast link a fast one. */
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

/** Every state after one more handling; a cable counts as fetched when its first plug is plugged in. */
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

/** One random rack in a hundred needs more states than this; some need more than fit in memory. */
const mostStates = 100_000;

/**
 * The least work to make all links, with no half-plugged cable at the end; other cables may stay. Undefined if the search
 * is too large.
 */
export function leastWork(cables: readonly RackCable[], links: readonly RackLink[]): Least | undefined {
  const names = links.flatMap(({ ends }) => [...ends]);
  const placeOf = (end: string): Place => (names.includes(end) ? names.indexOf(end) + 1 : elsewhere);
  const goals = links.map(({ ends, isFast }): Goal => ({ one: placeOf(ends[0]), other: placeOf(ends[1]), isFast }));
  const places = names.map(placeOf);
  const codes = cables.map((cable) => codeOf(placeOf(cable.ends[0]), placeOf(cable.ends[1]), cable.isSlow));
  const start: State = { codes: codes.sort((a, b) => a - b), fetched: 0 };
  const best = new Map([[keyOf(start), 0]]);
  /**
   * States are ordered by their lower bound of handlings, then of fetched cables. So the first finished state is the
   * best (A*).
   */
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
        if (best.size > mostStates) return undefined;
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
  throw new Error('no sequence of moves makes these links');
}
