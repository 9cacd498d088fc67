import { type Known, known, unknown } from '../../../model/known.ts';
import type { Answer } from '../../../model/probe.ts';
import { wholeNumber } from '../../../node/answers/grammar.ts';
import { garbled } from '../../../node/answers/read-answer.ts';
import { exitOfListHead, type NodeRecord, readFields, readRecords } from '../../../node/answers/records.ts';

/** What curl gave for the request of one token. */
export interface AskedToken {
  readonly placement: string;
  readonly curlExit: number;
  /** As `%{http_code}` prints it: 0 when there was no answer. */
  readonly status: number;
  /** The body in base64; empty when there was none. */
  readonly body: string;
}

/** The records of the probe `placement-members`. */
export interface SeenPlacements {
  readonly records: readonly { readonly name: string; readonly fields: Readonly<Record<string, string>> }[];
  /** TCP ports on which somebody listens; unknown when netstat failed. */
  readonly ports: Known<readonly number[]>;
  readonly tokens: ReadonlyMap<string, AskedToken>;
  /** The count of starts over RDMA, as its file says; absent where there was none. */
  readonly rdmaStarts?: Readonly<Record<string, string>>;
  /** Why the node needs a restart, as its file says; absent where there is none. */
  readonly rebootMark?: Readonly<Record<string, string>>;
  /** What leaders keep of the golden answer, by placement. */
  readonly goldens: ReadonlyMap<string, Readonly<Record<string, string>>>;
  /** The mark of the last start over RDMA, by placement. */
  readonly starts: ReadonlyMap<string, Readonly<Record<string, string>>>;
}

/** Reads everything that the probe printed; garbled when a record is of no known kind or comes twice. */
export function readPlacements(answer: Answer | undefined): Known<SeenPlacements> {
  const all = readRecords(answer);
  if (all.kind === 'unknown') return all;
  const records: SeenPlacements['records'][number][] = [];
  const tokens = new Map<string, AskedToken>();
  const starts = new Map<string, Readonly<Record<string, string>>>();
  const goldens = new Map<string, Readonly<Record<string, string>>>();
  let ports: Known<readonly number[]> | undefined;
  let rdmaStarts: Readonly<Record<string, string>> | undefined;
  let rebootMark: Readonly<Record<string, string>> | undefined;
  for (const record of all.value) {
    const exit = exitOfListHead(record.head, 'listening');
    const token = tokenRecordOf(record);
    const [, name = ''] = /^placement ([A-Za-z0-9._-]{1,255})$/.exec(record.head) ?? [];
    const fields = name === '' ? undefined : readFields(record.lines);
    const [, startOf = ''] = /^start ([A-Za-z0-9._-]{1,255})$/.exec(record.head) ?? [];
    const started = startOf === '' ? undefined : readFields(record.lines);
    const [, goldenOf = ''] = /^golden ([A-Za-z0-9._-]{1,255})$/.exec(record.head) ?? [];
    const golden = goldenOf === '' ? undefined : readFields(record.lines);
    const own = readFields(record.lines);
    if (exit !== undefined && ports === undefined) ports = portsOf(exit, record.lines);
    else if (token !== undefined && !tokens.has(token.placement)) tokens.set(token.placement, token);
    else if (started !== undefined && !starts.has(startOf)) starts.set(startOf, started);
    else if (golden !== undefined && !goldens.has(goldenOf)) goldens.set(goldenOf, golden);
    else if (record.head === 'rdma-starts' && rdmaStarts === undefined && own !== undefined) rdmaStarts = own;
    else if (record.head === 'needs-reboot' && rebootMark === undefined && own !== undefined) rebootMark = own;
    else if (fields !== undefined && records.every((one) => one.name !== name)) records.push({ name, fields });
    else return garbled(answer, 'printed a record that is no placement');
  }
  return known({
    records,
    ports: ports ?? unknown('failed', 'Nobody looked which ports are listened on.'),
    tokens,
    ...(rdmaStarts === undefined ? {} : { rdmaStarts }),
    ...(rebootMark === undefined ? {} : { rebootMark }),
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
