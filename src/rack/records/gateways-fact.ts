import { parsedJson } from '../../model/digest.ts';
import type { EndpointStatus, GatewayCounts, GatewayStatus } from '../../model/gateway.ts';
import { given } from '../../model/given.ts';
import { andThen, type Known, known } from '../../model/known.ts';
import { asList, asObject, garbled, type JsonObject, textOf } from '../../node/answers/read-answer.ts';
import { readRecords } from '../../node/answers/records.ts';
import { gatewayPort } from '../../node/paths/own-paths.ts';
import { launchdServices } from '../../node/probes/launchd-services.ts';
import { defineFact } from '../fact.ts';

const statusHead = /^status ([A-Za-z0-9._-]{1,255})$/;

/** The other record heads. Any other line means that a gateway's status ended too early. */
const otherHead = /^(?:odd|(?:service|answer|suspended) [A-Za-z0-9._-]{1,255} \d{1,10})$/;

/** True if a record is a gateway's status, among the records of launchd services. */
export const isGatewayStatus = (head: string): boolean => statusHead.test(head);

export const gatewaysFact = defineFact({
  name: 'gateways',
  from: [launchdServices],
  parse: ([answer]): Known<readonly GatewayStatus[]> =>
    andThen(readRecords(answer), (records) => {
      const exits = new Map<string, string>();
      const found: GatewayStatus[] = [];
      for (const { head, lines } of records) {
        const [, asked = '', exit = ''] = /^answer ([A-Za-z0-9._-]{1,255}) (\d{1,3})$/.exec(head) ?? [];
        if (asked !== '') exits.set(asked, exit);
        const [, label = ''] = statusHead.exec(head) ?? [];
        if (label === '') {
          if (!otherHead.test(head)) return garbled(answer, 'printed a line without its record');
          continue;
        }
        const port = gatewayPort(label);
        const curlExit = exits.get(label);
        if (port === undefined || curlExit === undefined || found.some((one) => one.port === port)) {
          return garbled(answer, 'printed the status of a gateway that was not queried');
        }
        found.push(statusAt(port, curlExit, lines));
      }
      return known(found);
    }),
  /** For each gateway and placement: the requests in flight, and its counts. */
  text: (gateways) =>
    gateways.map((gateway) => {
      if (gateway.kind === 'silent') return `port ${gateway.port}: ${gateway.reason}`;
      const endpoints = gateway.endpoints.map(({ placement, running, waiting, counts: { requests, tokens } }) =>
        [`${placement} ${running + waiting} in flight`, `${requests} answered`, `${tokens} tokens`].join(', '),
      );
      return `port ${gateway.port}: ${endpoints.join('; ')}`;
    }),
});

/** The reason why a gateway did not answer, by the exit code of curl. @see curl(1), EXIT CODES */
const curlReasons: Readonly<Record<string, string>> = {
  7: 'nothing listens on its port',
  28: 'it did not answer in time',
  52: 'it gave an empty answer',
  56: 'the connection broke',
};

export const curlReason = (exit: string): string => curlReasons[exit] ?? `curl exited with ${exit}`;

function statusAt(port: number, curlExit: string, lines: readonly string[]): GatewayStatus {
  const silent = (reason: string): GatewayStatus => ({ kind: 'silent', port, reason });
  if (curlExit !== '0') return silent(curlReason(curlExit));
  if (lines.length === 0) return silent('another program answers on its port, or its answer is too long');
  const document = decoded(lines.join(''));
  const strangers = document && countOf(document, 'strangers');
  const endpoints = document && asList(document['placements'])?.map(endpointOf);
  if (strangers === undefined || endpoints === undefined) return silent('its answer is unreadable');
  const read = endpoints.filter((endpoint) => endpoint !== undefined);
  const version = document && textOf(document, 'version');
  const names = new Set(read.map(({ placement }) => placement));
  const isWhole = read.length === endpoints.length && names.size === read.length;
  if (!isWhole) return silent('its answer is unreadable');
  return { kind: 'answered', port, ...given({ version }), strangers, endpoints: read };
}

function decoded(base64: string): JsonObject | undefined {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) return undefined;
  const document = asObject(parsedJson(Buffer.from(base64, 'base64').toString('utf8')));
  return document?.['formatVersion'] === 1 ? document : undefined;
}

/** Rejects numbers that cannot be a count. */
function numberOf(object: JsonObject, key: string): number | undefined {
  const value = Object.hasOwn(object, key) ? object[key] : undefined;
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER ? value : undefined;
}

function countOf(object: JsonObject, key: string): number | undefined {
  const value = numberOf(object, key);
  return Number.isSafeInteger(value) ? value : undefined;
}

function endpointOf(value: unknown): EndpointStatus | undefined {
  const endpoint = asObject(value);
  if (endpoint === undefined) return undefined;
  const placement = textOf(endpoint, 'placement');
  const counts = countsOf(endpoint['counts']);
  const [running, waiting] = [countOf(endpoint, 'running'), countOf(endpoint, 'waiting')];
  if (placement === undefined || !/^[A-Za-z0-9._-]{1,255}$/.test(placement)) return undefined;
  if (counts === undefined || running === undefined || waiting === undefined) return undefined;
  const closed = textOf(endpoint, 'closed');
  return {
    placement,
    ...given({ closed }),
    running,
    waiting,
    ...optional(endpoint, 'lastByteMsAgo'),
    ...optional(endpoint, 'quietMs'),
    ...optional(endpoint, 'streamQuietMs'),
    counts,
  };
}

/** A value that an older gateway does not report is absent. */
function optional<K extends string>(object: JsonObject, key: K): { readonly [_ in K]?: number } {
  const value = countOf(object, key);
  return value === undefined ? {} : ({ [key]: value } as { readonly [_ in K]?: number });
}

function countsOf(value: unknown): GatewayCounts | undefined {
  const counts = asObject(value);
  const [first, generating] = [asObject(counts?.['firstToken']), asObject(counts?.['generating'])];
  if (counts === undefined || first === undefined || generating === undefined) return undefined;
  const whole = numbersOf(counts, ['requests', 'failed', 'refused', 'tokens']);
  const firstToken = numbersOf(first, ['count', 'totalMs', 'lastMs']);
  const later = numbersOf(generating, ['tokens', 'totalMs', 'lastPerSecond']);
  if (whole === undefined || firstToken === undefined || later === undefined) return undefined;
  return { ...optional(counts, 'sinceEpochSeconds'), ...whole, firstToken, generating: later };
}

function numbersOf<K extends string>(object: JsonObject, keys: readonly K[]): Readonly<Record<K, number>> | undefined {
  const entries = keys.map((key) => [key, numberOf(object, key)] as const);
  return entries.every(([, value]) => value !== undefined)
    ? (Object.fromEntries(entries) as Readonly<Record<K, number>>)
    : undefined;
}
