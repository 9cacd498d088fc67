import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

interface Note {
  readonly id: number;
  readonly author: { readonly id: number };
  body: string;
}

interface Answer {
  readonly status: number;
  readonly value?: unknown;
  readonly nextPage?: string;
}

const token = 'glpat-rack';
/** The user of the project's access token. */
const self = { id: 41 };

/** A stand-in for GitLab's API until the test ends. It answers only what gitlab.mjs asks, with two notes a page. */
export async function gitlabDouble(notes: Note[]) {
  const requests: string[] = [];
  const answer = async (asked: IncomingMessage): Promise<Answer> => {
    const { method = '', url = '', headers } = asked;
    requests.push(`${method} ${url}`);
    if (headers['private-token'] !== token) return { status: 401 };
    if (method === 'GET' && url === '/api/v4/user') return { status: 200, value: self };
    const [, id, page] =
      /^\/api\/v4\/projects\/7\/merge_requests\/3\/notes(?:\/(\d+)|\?per_page=100&page=(\d+))?$/.exec(url) ?? [];
    if (method === 'GET' && page !== undefined) {
      const nextPage = notes.length > 2 * Number(page) ? String(Number(page) + 1) : '';
      return { status: 200, value: notes.slice(2 * Number(page) - 2, 2 * Number(page)), nextPage };
    }
    const { body } = JSON.parse(await text(asked)) as { readonly body: string };
    if (method === 'POST' && url.endsWith('/notes')) notes.push({ id: 900 + notes.length, author: self, body });
    else {
      const found = notes.find((one) => method === 'PUT' && one.id === Number(id));
      if (found?.author.id !== self.id) return { status: found === undefined ? 404 : 403 };
      found.body = body;
    }
    return { status: 200, value: {} };
  };
  const server = createServer((asked, response) => {
    void answer(asked).then(({ status, value = {}, nextPage = '' }) =>
      response.writeHead(status, { 'x-next-page': nextPage }).end(JSON.stringify(value)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const env = {
    CI_PIPELINE_SOURCE: 'merge_request_event',
    CI_API_V4_URL: `http://127.0.0.1:${port}/api/v4`,
    CI_PROJECT_ID: '7',
    CI_MERGE_REQUEST_IID: '3',
    PLAN_TOKEN: token,
  };
  return { requests, notes, env };
}
