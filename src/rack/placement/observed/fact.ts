import { digest, parsedJson } from '../../../model/digest.ts';
import type { FactsRdmaStarts } from '../../../model/documents.generated.ts';
import type { LaunchdService } from '../../../model/facts/daemons.ts';
import type { RankRecord, RecordedRank, TokenResult } from '../../../model/facts/fact-values.ts';
import type { RebootMark } from '../../../model/facts/node-records.ts';
import { given } from '../../../model/given.ts';
import { allKnown, andThen, type Known, known, mapKnown, unknown } from '../../../model/known.ts';
import type { Answer } from '../../../model/probe.ts';
import { isUuid, wholeNumber } from '../../../node/answers/grammar.ts';
import { asObject, garbled } from '../../../node/answers/read-answer.ts';
import { type NodeRecord, readFields, readRecords } from '../../../node/answers/records.ts';
import { judgeToken, notAskedReason, notAskedStatus } from '../../../node/endpoint/judge-answer.ts';
import { rankServiceLabel } from '../../../node/paths/own-paths.ts';
import { launchdServices } from '../../../node/probes/launchd-services.ts';
import { placementRanks } from '../../../node/probes/placement-ranks.ts';
import { sysctl } from '../../../node/probes/sysctl.ts';
import { mostWiredBytes } from '../../../node/wired-memory.ts';
import { bootSessionFact } from '../../boot/fact.ts';
import { defineFact } from '../../fact.ts';
import { gpuBytesOf } from '../../memory/fact.ts';
import { servicesFact } from '../../records/services-fact.ts';

const timedOut = 28;

/** Exit codes of curl that describe an endpoint failure; any other means that curl itself failed. @see curl(1) */
const curlReasons: Readonly<Record<number, string>> = {
  7: 'the endpoint refused the connection',
  18: 'the endpoint ended its answer too early',
  [timedOut]: 'none came before the deadline',
  52: 'the endpoint sent an empty answer',
  56: 'the connection broke',
};

function tokenOf({ curlExit, status, body }: AskedToken, record: RankRecord): Known<TokenResult> {
  if (curlExit !== 0) {
    const reason = curlReasons[curlExit];
    if (reason === undefined) return unknown('failed', `curl exited with ${curlExit}.`);
    if (curlExit !== timedOut) return known({ kind: 'silent', reason });
    return known({ kind: 'silent', reason: `${reason} of ${record.tokenDeadlineMs / 1_000} s`, isTimeout: true });
  }
  const answer = { status, body: Buffer.from(body, 'base64').toString('utf8') };
  if (status === notAskedStatus) return known(notAsked(answer.body));
  const judged = judgeToken(answer, record.tokenPointer, record.tokenCountPointer);
  if (judged.kind === 'token') return known({ kind: 'answered', text: judged.text });
  return known({ kind: 'silent', reason: judged.reason, ...(status === 200 ? {} : { status }) });
}

/**
 * Explains why an endpoint was not asked for a token. `body` is the gateway's report, such as
 * `{"running":1,"waiting":0,"lastTokenMsAgo":40}`, or one word from meshwright's own check of the endpoint's
 * connections. Two cases count as a token that did not come in time: a request whose client has disconnected, and an
 * earlier check that waits longer than a token takes.
 */
function notAsked(body: string): TokenResult {
  const late = (reason: string): TokenResult => ({ kind: 'silent', reason, isTimeout: true });
  if (body === 'gone') return late('a request whose client has disconnected is still in flight');
  if (body === 'unseen') return { kind: 'in-flight', reason: 'could not check whether a request is in flight' };
  const { lastTokenMsAgo, ownMs } = asObject(parsedJson(body)) ?? {};
  if (typeof lastTokenMsAgo === 'number') {
    return { kind: 'in-flight', reason: 'a client got a token', lastTokenMsAgo: Math.round(lastTokenMsAgo) };
  }
  return typeof ownMs === 'number'
    ? late(`an earlier check has waited ${Math.round(ownMs / 1_000)} s for one`)
    : { kind: 'in-flight', reason: notAskedReason };
}

interface AskedToken {
  readonly placement: string;
  readonly curlExit: number;
  /** As printed by `%{http_code}`: 0 without an answer. */
  readonly status: number;
  /** The answer's body in base64; empty without an answer. */
  readonly body: string;
}

type Fields = Readonly<Record<string, string>>;

interface SeenPlacements {
  readonly records: readonly { readonly name: string; readonly fields: Fields }[];
  readonly ports: Known<readonly number[]>;
  readonly tokens: ReadonlyMap<string, AskedToken>;
  /** The node's file with its count of starts over RDMA; absent before the first start. */
  readonly rdmaStarts?: Fields;
  /** The node's file with the reason why it needs a restart, if there is one. */
  readonly rebootMark?: Fields;
  /** The golden answers stored on leaders, keyed by placement. */
  readonly goldens: ReadonlyMap<string, Fields>;
  /** The mark of the last start, keyed by placement. */
  readonly starts: ReadonlyMap<string, Fields>;
}

/** Parses the probe's output; garbled if a record has an unknown kind or appears twice. */
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
    const exit = /^listening (\d{1,3})$/.exec(record.head)?.[1];
    const token = tokenRecordOf(record);
    const [, kind, name = ''] = /^(placement|start|golden) ([A-Za-z0-9._-]{1,255})$/.exec(record.head) ?? [];
    const fields = readFields(record.lines);
    if (exit !== undefined && ports === undefined) ports = portsOf(Number(exit), record.lines);
    else if (token !== undefined && !tokens.has(token.placement)) tokens.set(token.placement, token);
    else if (fields === undefined) return garbled(answer, 'printed an unknown or repeated record');
    else if (kind === 'start' && !starts.has(name)) starts.set(name, fields);
    else if (kind === 'golden' && !goldens.has(name)) goldens.set(name, fields);
    else if (kind === 'placement' && records.every((one) => one.name !== name)) records.push({ name, fields });
    else if (record.head === 'rdma-starts' && rdmaStarts === undefined) rdmaStarts = fields;
    else if (record.head === 'reboot-mark' && rebootMark === undefined) rebootMark = fields;
    else return garbled(answer, 'printed an unknown or repeated record');
  }
  return known({
    records,
    ports: ports ?? unknown('failed', 'The listening ports were not checked.'),
    tokens,
    ...given({ rdmaStarts, rebootMark }),
    starts,
    goldens,
  });
}

function portsOf(exit: number, lines: readonly string[]): Known<readonly number[]> {
  if (exit !== 0) return unknown('failed', `netstat exited with ${exit}.`);
  const ports = lines.map(wholeNumber);
  const isClean = ports.every((port) => port !== undefined && port < 65_536);
  return isClean
    ? known(ports.filter((port) => port !== undefined))
    : unknown('garbled', 'netstat printed an invalid port.');
}

/** `token kimi 0 200`, then one line of base64; the status is missing if curl could not be started. */
function tokenRecordOf({ head, lines }: NodeRecord): AskedToken | undefined {
  const form = /^token ([A-Za-z0-9._-]{1,255}) (\d{1,3}) (\d{0,3})$/;
  const [, placement = '', curlExit = '', status = ''] = form.exec(head) ?? [];
  const [body = '', ...more] = lines;
  if (placement === '' || more.length > 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(body)) return undefined;
  return { placement, curlExit: Number(curlExit), status: Number(status), body };
}

type PlacementRecord = Omit<RecordedRank, 'isListening' | 'isMeeting' | 'token' | 'said' | 'golden'>;

/** Parses a rank's record; `undefined` if a required line is missing or invalid. */
function placementRecord(fields: Fields): PlacementRecord | undefined {
  const { driver, tokenCountPointer, requests, declared } = fields;
  // Records of older versions lack these fields and the driver.
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

/** 0 means no port. */
const isPort = (port: number): boolean => port < 65_536;

/**
 * The ranks on this node according to their records, with their current state: whether the rank's port is listening
 * and, on the leader, the endpoint's answer. The endpoint's answer counts only while the rank's service has a process,
 * because another program may listen there.
 */
export const placementsFact = defineFact({
  name: 'placements',
  from: [placementRanks, launchdServices],
  parse: ([answer, launchd], asked): Known<readonly RecordedRank[]> => {
    const seen = readPlacements(answer);
    if (seen.kind === 'unknown') return seen;
    const { records } = seen.value;
    if (records.length === 0) return known([]);
    const loaded = servicesFact.parse([launchd], asked);
    if (loaded.kind === 'unknown') return loaded;
    return allKnown(
      records.map(({ name, fields }) => {
        const record = placementRecord(fields);
        return record?.placement === name
          ? recordedRank(record, seen.value, loaded.value)
          : garbled(answer, `printed an invalid record of ${name}`);
      }),
    );
  },
  text: (ranks) =>
    ranks.map(({ placement, rank, size, generation, starts, port, isListening, token }) =>
      [
        `${placement} rank ${rank} of ${size}`,
        `generation ${generation}`,
        `${starts} ${starts === 1 ? 'start' : 'starts'}`,
        `port ${port} ${isListening ? 'listening' : 'not listening'}`,
        ...tokenWords(token),
      ].join(', '),
    ),
});

function tokenWords(token: TokenResult): readonly string[] {
  switch (token.kind) {
    case 'not-asked':
      return [];
    case 'answered':
      return [token.text === '' ? 'returns tokens without text' : `answers ${JSON.stringify(token.text.slice(0, 40))}`];
    case 'in-flight':
      return [token.reason];
    case 'silent':
      return [`no token: ${token.reason}`];
  }
}

function recordedRank(
  record: PlacementRecord,
  { ports, tokens, starts, goldens }: SeenPlacements,
  loaded: readonly LaunchdService[],
): Known<RecordedRank> {
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
      // Only if the wired limit was known to be unset at that start: a raised limit is not the macOS default.
      gpuBytes: wired === '0' ? gpuBytesOf(gpu) : undefined,
      outcome: outcomes.find((one) => one === outcome),
      failedIn,
      lastTalked: lastTalked === 'tcp' ? ('tcp' as const) : undefined,
    }),
  };
  const service = loaded.find(({ label }) => label === rankServiceLabel(record.placement));
  const notAsked: TokenResult = { kind: 'not-asked' };
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

const saidIn = (start: Fields): readonly string[] =>
  Object.entries(start)
    .flatMap(([key, line]) => {
      const [, number] = /^said(\d{1,2})$/.exec(key) ?? [];
      return number === undefined ? [] : [{ number: Number(number), line }];
    })
    .toSorted((a, b) => a.number - b.number)
    .map(({ line }) => line);

/** The stored golden answer; nothing if it is unreadable, so that the next answer counts as the first. */
function goldenIn(fields: Fields = {}): Pick<RecordedRank, 'golden'> {
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

/** Why the node must restart before another rank starts. A mark ends with its boot session, or when memory is free. */
export const rebootMarkFact = defineFact({
  name: 'reboot-mark',
  from: [placementRanks, sysctl],
  parse: ([answer, values], asked): Known<readonly RebootMark[]> =>
    andThen(readPlacements(answer), ({ rebootMark: fields }) => {
      if (fields === undefined) return known([]);
      const mark = markOf(fields);
      if (mark === undefined) return garbled(answer, 'printed an invalid restart mark');
      return mapKnown(bootSessionFact.parse([values], asked), ({ uuid }) =>
        uuid !== fields['boot'] || hasFallen(mark, wholeNumber(fields['now'])) ? [] : [mark],
      );
    }),
  text: (marks) =>
    marks.length === 0
      ? 'not set'
      : marks.map(({ placement, why, wiredBytes, baselineBytes }) =>
          why === 'kernel'
            ? `after ${placement}: a process survived SIGKILL`
            : `after ${placement}: ${wiredBytes} bytes wired (${baselineBytes} bytes before)`,
        ),
});

/** True if the wired memory was freed since then, so the kernel did not keep it. */
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

export const rdmaStartsFact = defineFact({
  name: 'rdma-starts',
  from: [placementRanks],
  parse: ([answer]): Known<FactsRdmaStarts> =>
    andThen(readPlacements(answer), ({ starts: allStarts, rdmaStarts }) => {
      const marks = [...allStarts].filter(([, { transport }]) => transport !== 'tcp');
      const last = marks.map(([placement, fields]) => startOf(placement, fields));
      if (!last.every((start) => start !== undefined)) return garbled(answer, 'printed an invalid start mark');
      const { boot = '', starts = '' } = rdmaStarts ?? { boot: '', starts: '0' };
      const count = wholeNumber(starts);
      const isRead = count !== undefined && (isUuid(boot) || (boot === '' && count === 0));
      return isRead
        ? known({ startedIn: boot, starts: count, last })
        : garbled(answer, 'printed an invalid start count');
    }),
  text: ({ startedIn, starts, last }) => [
    startedIn === '' ? 'none yet' : `${starts} in boot session ${startedIn}`,
    ...last.flatMap(({ placement, complaint }) =>
      complaint === undefined ? [] : [`${placement} logged: ${complaint}`],
    ),
  ],
});

function startOf(placement: string, { boot = '', complaint }: Fields): FactsRdmaStarts['last'][number] | undefined {
  if (!isUuid(boot)) return undefined;
  return { placement, startedIn: boot, ...given({ complaint }) };
}
