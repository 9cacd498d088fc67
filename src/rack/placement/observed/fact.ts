import { digest } from '../../../model/digest.ts';
import type { LaunchdService } from '../../../model/facts/daemons.ts';
import type { PlacementMember, TokenSight } from '../../../model/facts/fact-values.ts';
import type { RebootMark } from '../../../model/facts/node-records.ts';
import { given } from '../../../model/given.ts';
import { andThen, type Known, known, mapKnown, unknown } from '../../../model/known.ts';
import type { RankRecord } from '../../../model/node-script.ts';
import type { Answer } from '../../../model/probe.ts';
import { isUuid, wholeNumber } from '../../../node/answers/grammar.ts';
import { asObject, garbled } from '../../../node/answers/read-answer.ts';
import { exitOfListHead, type NodeRecord, readFields, readRecords } from '../../../node/answers/records.ts';
import { judgeToken, notAskedReason, notAskedStatus } from '../../../node/endpoint/judge-answer.ts';
import { rankServiceLabel } from '../../../node/paths/own-paths.ts';
import { launchdServices } from '../../../node/probes/launchd-services.ts';
import { placementMembers } from '../../../node/probes/placement-members.ts';
import { sysctl } from '../../../node/probes/sysctl.ts';
import { mostWiredBytes } from '../../../node/wired-memory.ts';
import { bootSessionFact } from '../../boot/fact.ts';
import { defineFact } from '../../fact.ts';
import { gpuBytesOf } from '../../memory/fact.ts';
import { servicesFact } from '../../records/services-fact.ts';

const timedOut = 28;

/** Exits of curl that say how the endpoint failed; every other one says that curl itself did. @see curl(1) */
const curlReasons: Readonly<Record<number, string>> = {
  7: 'it refuses connections',
  18: 'it broke its answer off',
  [timedOut]: 'no token before the deadline',
  52: 'it gave an empty answer',
  56: 'the connection broke',
};

/** What the answer of an endpoint means; unknown when curl could not ask at all. */
function tokenOf({ curlExit, status, body }: AskedToken, record: RankRecord): Known<TokenSight> {
  if (curlExit !== 0) {
    const reason = curlReasons[curlExit];
    if (reason === undefined) return unknown('failed', `curl ended with ${curlExit}.`);
    if (curlExit !== timedOut) return known({ kind: 'silent', reason });
    return known({ kind: 'silent', reason: `${reason} of ${record.tokenDeadlineMs / 1_000} s`, isTimeout: true });
  }
  const answer = { status, body: Buffer.from(body, 'base64').toString('utf8') };
  if (status === notAskedStatus) return known(notAsked(answer.body));
  const judged = judgeToken(answer, record.tokenPointer, record.tokenCountPointer);
  return known(
    judged.kind === 'token' ? { kind: 'answered', text: judged.text } : { kind: 'silent', reason: judged.reason },
  );
}

/**
 * Why an endpoint was not asked: what its gateway says, `{"running":1,"waiting":0,"lastTokenMsAgo":40}`, or the word of our
 * own look at its connections. A request that its asker has left, or one of ours that has waited for longer than a token
 * takes, is as late as a token that did not come in time.
 */
function notAsked(body: string): TokenSight {
  const late = (reason: string): TokenSight => ({ kind: 'silent', reason, isTimeout: true });
  if (body === 'gone') return late('a request is in flight whose asker has left');
  if (body === 'unseen') return { kind: 'in-flight', reason: 'nobody could see whether a request is in flight' };
  const { lastTokenMsAgo, ownMs } = jsonObject(body);
  if (typeof lastTokenMsAgo === 'number') {
    return { kind: 'in-flight', reason: 'a client got a token', lastTokenMsAgo: Math.round(lastTokenMsAgo) };
  }
  return typeof ownMs === 'number'
    ? late(`no token for ${Math.round(ownMs / 1_000)} s, since an earlier check asked`)
    : { kind: 'in-flight', reason: notAskedReason };
}

function jsonObject(body: string): Readonly<Record<string, unknown>> {
  try {
    return asObject(JSON.parse(body)) ?? {};
  } catch {
    return {};
  }
}

/** What curl gave for the request of one token. */
interface AskedToken {
  readonly placement: string;
  readonly curlExit: number;
  /** As `%{http_code}` prints it: 0 when there was no answer. */
  readonly status: number;
  /** The body in base64; empty when there was none. */
  readonly body: string;
}

type Fields = Readonly<Record<string, string>>;

/** The records of the probe `placement-members`. */
interface SeenPlacements {
  readonly records: readonly { readonly name: string; readonly fields: Fields }[];
  /** TCP ports on which somebody listens; unknown when netstat failed. */
  readonly ports: Known<readonly number[]>;
  readonly tokens: ReadonlyMap<string, AskedToken>;
  /** The count of starts over RDMA, as its file says; absent where there was none. */
  readonly rdmaStarts?: Fields;
  /** Why the node needs a restart, as its file says; absent where there is none. */
  readonly rebootMark?: Fields;
  /** What leaders keep of the golden answer, by placement. */
  readonly goldens: ReadonlyMap<string, Fields>;
  /** The mark of the last start over RDMA, by placement. */
  readonly starts: ReadonlyMap<string, Fields>;
}

/** Reads everything that the probe printed; garbled when a record is of no known kind or comes twice. */
function readPlacements(answer: Answer | undefined): Known<SeenPlacements> {
  const all = readRecords(answer);
  if (all.kind === 'unknown') return all;
  const records: SeenPlacements['records'][number][] = [];
  const tokens = new Map<string, AskedToken>();
  const starts = new Map<string, Fields>();
  const goldens = new Map<string, Fields>();
  let ports: Known<readonly number[]> | undefined;
  let rdmaStarts: Fields | undefined;
  let rebootMark: Fields | undefined;
  for (const record of all.value) {
    const exit = exitOfListHead(record.head, 'listening');
    const token = tokenRecordOf(record);
    const [, kind, name = ''] = /^(placement|start|golden) ([A-Za-z0-9._-]{1,255})$/.exec(record.head) ?? [];
    const fields = readFields(record.lines);
    if (exit !== undefined && ports === undefined) ports = portsOf(exit, record.lines);
    else if (token !== undefined && !tokens.has(token.placement)) tokens.set(token.placement, token);
    else if (fields === undefined) return garbled(answer, 'printed a record that is no placement');
    else if (kind === 'start' && !starts.has(name)) starts.set(name, fields);
    else if (kind === 'golden' && !goldens.has(name)) goldens.set(name, fields);
    else if (kind === 'placement' && records.every((one) => one.name !== name)) records.push({ name, fields });
    else if (record.head === 'rdma-starts' && rdmaStarts === undefined) rdmaStarts = fields;
    else if (record.head === 'needs-reboot' && rebootMark === undefined) rebootMark = fields;
    else return garbled(answer, 'printed a record that is no placement');
  }
  return known({
    records,
    ports: ports ?? unknown('failed', 'Nobody looked which ports are listened on.'),
    tokens,
    ...given({ rdmaStarts, rebootMark }),
    starts,
    goldens,
  });
}

function portsOf(exit: number, lines: readonly string[]): Known<readonly number[]> {
  if (exit !== 0) return unknown('failed', `netstat ended with ${exit}.`);
  const ports = lines.map(wholeNumber);
  const isClean = ports.every((port) => port !== undefined && port < 65_536);
  return isClean
    ? known(ports.filter((port) => port !== undefined))
    : unknown('garbled', 'netstat printed a strange port.');
}

/** `token kimi 0 200`, then one line of base64; the status is left out when curl could not even be started. */
function tokenRecordOf({ head, lines }: NodeRecord): AskedToken | undefined {
  const form = /^token ([A-Za-z0-9._-]{1,255}) (\d{1,3}) (\d{0,3})$/;
  const [, placement = '', curlExit = '', status = ''] = form.exec(head) ?? [];
  const [body = '', ...more] = lines;
  if (placement === '' || more.length > 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(body)) return undefined;
  return { placement, curlExit: Number(curlExit), status: Number(status), body };
}

/** What a member left on its node: its record, and how often it was started. */
type PlacementRecord = Omit<PlacementMember, 'isListening' | 'isMeeting' | 'token' | 'said' | 'golden'>;

/** The record of a member from the lines of its file; `undefined` when one that must be there is missing or strange. */
function memberOf(fields: Fields): PlacementRecord | undefined {
  const { driver, tokenCountPointer, requests, declared } = fields;
  // A record of an older meshwright has none of them, nor a driver.
  const { placement = '', tokenPath = '', tokenPointer = '', startedIn = '', meetPort = '0', logPattern = '' } = fields;
  const number = (key: string): number => wholeNumber(fields[key]) ?? Number.NaN;
  const record = {
    placement,
    digest: digest(fields['digest'] ?? ''),
    generation: number('generation'),
    rank: number('rank'),
    size: number('size'),
    port: number('port'),
    meetPort: wholeNumber(meetPort) ?? Number.NaN,
    endpointPort: number('endpointPort'),
    tokenPath,
    tokenPointer,
    tokenDeadlineMs: number('tokenDeadlineMs'),
    logPattern,
    startedIn,
    starts: number('starts'),
    ...given({ driver, tokenCountPointer, requests: requests === 'one' ? ('one' as const) : undefined, declared }),
  };
  const isWhole = Object.values(record).every((value) => typeof value !== 'number' || !Number.isNaN(value));
  const isInForm =
    /^[0-9a-f]{64}$/.test(record.digest) &&
    /^\/[\x21-\x7e]*$/.test(tokenPath) &&
    /^(?:\/.*)?$/.test(tokenPointer) &&
    /^(?:\/.*)?$/.test(tokenCountPointer ?? '') &&
    (startedIn === '' || isUuid(startedIn));
  const isInRange =
    record.rank < record.size &&
    isPort(record.port) &&
    isPort(record.meetPort) &&
    record.endpointPort > 0 &&
    isPort(record.endpointPort);
  return isWhole && isInForm && isInRange ? record : undefined;
}

/** 0 stands for none. */
const isPort = (port: number): boolean => port < 65_536;

/**
 * The members of placements on this node, as their records say, with what is seen of them now: whether somebody listens
 * on the port of the ranks, and, on the leader, what its endpoint answered. An answer of an endpoint counts only while
 * the service of the rank has a process: somebody else may listen there.
 */
export const placementsFact = defineFact({
  name: 'placements',
  from: [placementMembers, launchdServices],
  parse: ([answer, launchd], asked): Known<readonly PlacementMember[]> => {
    const seen = readPlacements(answer);
    if (seen.kind === 'unknown') return seen;
    const { records } = seen.value;
    if (records.length === 0) return known([]);
    const loaded = servicesFact.parse([launchd], asked);
    if (loaded.kind === 'unknown') return loaded;
    const found: PlacementMember[] = [];
    for (const { name, fields } of records) {
      const record = memberOf(fields);
      if (record === undefined || record.placement !== name) {
        return garbled(answer, `printed a record of ${name} that cannot be read`);
      }
      const member = withSight(record, seen.value, loaded.value);
      if (member.kind === 'unknown') return member;
      found.push(member.value);
    }
    return known(found);
  },
  /** Of each member its place in the mesh, how often it was started, what is seen of it. */
  text: (members) =>
    members.map(({ placement, rank, size, generation, starts, port, isListening, token }) =>
      [
        `${placement} rank ${rank} of ${size}`,
        `generation ${generation}`,
        `${starts} ${starts === 1 ? 'start' : 'starts'}`,
        `port ${port} ${isListening ? 'listens' : 'silent'}`,
        ...tokenWords(token),
      ].join(', '),
    ),
});

function tokenWords(token: TokenSight): readonly string[] {
  switch (token.kind) {
    case 'not-asked':
      return [];
    case 'answered':
      return [token.text === '' ? 'gives tokens without text' : `answers ${JSON.stringify(token.text.slice(0, 40))}`];
    case 'in-flight':
      return [token.reason];
    case 'silent':
      return [`no token: ${token.reason}`];
  }
}

function withSight(
  record: PlacementRecord,
  { ports, tokens, starts, goldens }: SeenPlacements,
  loaded: readonly LaunchdService[],
): Known<PlacementMember> {
  if (ports.kind === 'unknown') return ports;
  const start = starts.get(record.placement) ?? {};
  const { complaint, gpu = '', wired, outcome, failedIn, lastTalked } = start;
  const seen = {
    ...record,
    isListening: ports.value.includes(record.port),
    isMeeting: ports.value.includes(record.meetPort),
    ...goldenIn(goldens.get(record.placement)),
    said: saidIn(start),
    ...given({
      complaint,
      // Nothing where the limit was raised at that start, or nobody noted it: that is not what macOS allows by itself.
      gpuBytes: wired === '0' ? gpuBytesOf(gpu) : undefined,
      outcome: outcomes.find((one) => one === outcome),
      failedIn,
      lastTalked: lastTalked === 'tcp' ? ('tcp' as const) : undefined,
    }),
  };
  const service = loaded.find(({ label }) => label === rankServiceLabel(record.placement));
  const notAsked: TokenSight = { kind: 'not-asked' };
  if (record.rank !== 0 || service?.state !== 'running') return known({ ...seen, token: notAsked });
  if (!ports.value.includes(record.endpointPort)) {
    const reason = `nothing listens on port ${record.endpointPort}`;
    return known({ ...seen, token: { kind: 'silent', reason } });
  }
  const asked = tokens.get(record.placement);
  if (asked === undefined) return known({ ...seen, token: notAsked });
  const token = tokenOf(asked, record);
  return token.kind === 'unknown' ? token : known({ ...seen, token: token.value });
}

const outcomes = ['served', 'hung', 'failed', 'exited'] as const;

/** The lines of a log that the mark of a start has beside it, in their order. */
const saidIn = (start: Fields): readonly string[] =>
  Object.entries(start)
    .flatMap(([key, line]) => {
      const [, number] = /^said(\d{1,2})$/.exec(key) ?? [];
      return number === undefined ? [] : [{ number: Number(number), line }];
    })
    .toSorted((a, b) => a.number - b.number)
    .map(({ line }) => line);

/** What was kept of a golden answer; nothing of one that cannot be read: then the next one is the first again. */
function goldenIn(fields: Fields = {}): Pick<PlacementMember, 'golden'> {
  const { key = '', sha256 = '', firstTokenMs = '', tokensPerSecond, steadyPerSecond } = fields;
  const first = wholeNumber(firstTokenMs);
  const isDigest = (text: string): boolean => /^[0-9a-f]{64}$/.test(text);
  if (!isDigest(key) || !isDigest(sha256) || first === undefined) return {};
  const [last, most] = [speedIn(tokensPerSecond), speedIn(steadyPerSecond)];
  return {
    golden: {
      key: digest(key),
      sha256: digest(sha256),
      firstTokenMs: first,
      ...given({ tokensPerSecond: last, steadyPerSecond: most }),
    },
  };
}

const speedIn = (text = ''): number | undefined => (/^\d{1,9}(?:\.\d{1,2})?$/.test(text) ? Number(text) : undefined);

/** Why the node needs a restart before any rank may be started there; one of an earlier boot session is over, and one of memory that has gone back since. */
export const rebootMarkFact = defineFact({
  name: 'reboot-mark',
  from: [placementMembers, sysctl],
  parse: ([answer, values], asked): Known<readonly RebootMark[]> =>
    andThen(readPlacements(answer), ({ rebootMark: fields }) => {
      if (fields === undefined) return known([]);
      const mark = markOf(fields);
      if (mark === undefined) return garbled(answer, 'printed a mark of a restart that cannot be read');
      return mapKnown(bootSessionFact.parse([values], asked), ({ uuid }) =>
        uuid !== fields['boot'] || hasFallen(mark, wholeNumber(fields['now'])) ? [] : [mark],
      );
    }),
  /** Why the node needs a restart before any rank may be started there. */
  text: (marks) =>
    marks.length === 0
      ? 'not set'
      : marks.map(({ placement, why, wiredBytes, baselineBytes }) =>
          why === 'kernel'
            ? `after ${placement}: KILL did not end it`
            : `after ${placement}: ${wiredBytes} bytes wired, ${baselineBytes} before`,
        ),
});

/** Whether what stayed wired is free by now: then it was not the kernel that held it. */
const hasFallen = ({ baselineBytes }: RebootMark, nowBytes: number | undefined): boolean =>
  baselineBytes !== undefined && nowBytes !== undefined && nowBytes <= mostWiredBytes(baselineBytes);

function markOf(fields: Fields): RebootMark | undefined {
  const { boot = '', why = '', placement = '' } = fields;
  if (!isUuid(boot) || placement === '') return undefined;
  if (why === 'kernel') return { placement, why };
  const wiredBytes = wholeNumber(fields['wired']);
  const baselineBytes = wholeNumber(fields['baseline']);
  if (why !== 'memory' || wiredBytes === undefined || baselineBytes === undefined) return undefined;
  return { placement, why, wiredBytes, baselineBytes };
}

/** The last start of a member over RDMA. */
export interface RdmaStart {
  readonly placement: string;
  /** The boot session in which it was. */
  readonly startedIn: string;
  /** The last line of its log since then that speaks of the verbs library. */
  readonly complaint?: string;
}

/** Starts of ranks over RDMA on one node, over all placements, those included that are gone. */
export interface RdmaStarts {
  /** The boot session that they are counted in; empty before the first one. */
  readonly startedIn: string;
  readonly starts: number;
  /** Of the members that are there. */
  readonly last: readonly RdmaStart[];
}

/** How often ranks over RDMA were started on this node, and what the last start of each member has complained about. */
export const rdmaStartsFact = defineFact({
  name: 'rdma-starts',
  from: [placementMembers],
  parse: ([answer]): Known<RdmaStarts> =>
    andThen(readPlacements(answer), ({ starts: allStarts, rdmaStarts }) => {
      const marks = [...allStarts].filter(([, { transport }]) => transport !== 'tcp');
      const last = marks.map(([placement, fields]) => startOf(placement, fields));
      if (!last.every((start) => start !== undefined)) return garbled(answer, 'printed a start that cannot be read');
      const { boot = '', starts = '' } = rdmaStarts ?? { boot: '', starts: '0' };
      const count = wholeNumber(starts);
      const isRead = count !== undefined && (isUuid(boot) || (boot === '' && count === 0));
      return isRead
        ? known({ startedIn: boot, starts: count, last })
        : garbled(answer, 'printed a count of starts that cannot be read');
    }),
  text: ({ startedIn, starts, last }) => [
    startedIn === '' ? 'none yet' : `${starts} in boot session ${startedIn}`,
    ...last.flatMap(({ placement, complaint }) => (complaint === undefined ? [] : [`${placement} said: ${complaint}`])),
  ],
});

function startOf(placement: string, { boot = '', complaint }: Fields): RdmaStart | undefined {
  if (!isUuid(boot)) return undefined;
  return { placement, startedIn: boot, ...given({ complaint }) };
}
