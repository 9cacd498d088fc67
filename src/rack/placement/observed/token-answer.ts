import type { TokenSight } from '../../../model/facts/fact-values.ts';
import { type Known, known, unknown } from '../../../model/known.ts';
import type { RankRecord } from '../../../model/node-script.ts';
import { asObject } from '../../../node/answers/read-answer.ts';
import { judgeToken, notAskedReason, notAskedStatus } from '../../../node/endpoint/judge-answer.ts';

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
