import { setTimeout as sleep } from 'node:timers/promises';

/** A placement's endpoint as its clients know it. */
export interface Endpoint {
  readonly placement: string;
  /** The URL on this computer at this moment, without a path. */
  readonly url: () => string;
  /** The name of the model in requests. */
  readonly model: string;
}

const betweenMs = 300;
/** A client's patience, which is not a limit of the test: after this time, the placement does not answer. */
const giveUpMs = 20_000;

/** Why a client got no token; undefined if it got one. */
async function failureOf(endpoint: Endpoint): Promise<string | undefined> {
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(), giveUpMs);
  try {
    const answer = await fetch(`${endpoint.url()}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        model: endpoint.model,
        max_tokens: 1,
        messages: [{ role: 'user', content: 'Hello' }],
      }),
      signal: patience.signal,
    });
    const text = await answer.text();
    return answer.ok ? undefined : `${answer.status} ${text}`;
  } catch (error) {
    return String(error instanceof Error ? (error.cause ?? error) : error);
  } finally {
    clearTimeout(timer);
  }
}

/** Clients that ask every endpoint all the time, until they stop. */
export interface SteadyClients {
  /** The placements that answered at first: no others can be lost. */
  readonly answering: readonly string[];
  /** Ends all requests. Returns the first failure of each placement that stopped answering. */
  readonly stop: () => Promise<Readonly<Record<string, string>>>;
}

/** Starts a client of each endpoint, which asks again 300 ms after each answer. */
export async function askAllTheTime(endpoints: readonly Endpoint[]): Promise<SteadyClients> {
  const first = await Promise.all(endpoints.map(async (one) => [one, await failureOf(one)] as const));
  const answering = first.flatMap(([one, failure]) => (failure === undefined ? [one] : []));
  const lost: Record<string, string> = {};
  let isOver = false;
  const asking = answering.map(async (one) => {
    while (!isOver) {
      await sleep(betweenMs);
      const failure = await failureOf(one);
      if (failure !== undefined) lost[one.placement] ??= failure;
    }
  });
  return {
    answering: answering.map(({ placement }) => placement),
    stop: async () => {
      isOver = true;
      await Promise.all(asking);
      return lost;
    },
  };
}
