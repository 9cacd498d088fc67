import type { TokenSight } from '../model/fact-values.ts';
import { type Known, known, unknown } from '../model/known.ts';
import type { RankRecord } from '../model/node-script.ts';
import { judgeToken } from '../script/judge-token.ts';
import type { AskedToken } from './placement-records.ts';

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
export function tokenOf({ curlExit, status, body }: AskedToken, record: RankRecord): Known<TokenSight> {
  if (curlExit !== 0) {
    const reason = curlReasons[curlExit];
    if (reason === undefined) return unknown('failed', `curl ended with ${curlExit}.`);
    if (curlExit !== timedOut) return known({ kind: 'silent', reason });
    return known({ kind: 'silent', reason: `${reason} of ${record.tokenDeadlineMs / 1_000} s`, isTimeout: true });
  }
  const answer = { status, body: Buffer.from(body, 'base64').toString('utf8') };
  const judged = judgeToken(answer, record.tokenPointer, record.tokenCountPointer);
  return known(
    judged.kind === 'token' ? { kind: 'answered', text: judged.text } : { kind: 'silent', reason: judged.reason },
  );
}
