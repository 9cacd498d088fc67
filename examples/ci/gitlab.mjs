// Posts the plan to its merge request through GitLab's API: node gitlab.mjs plan.md. docs/ci.md explains it.
import { readFileSync } from 'node:fs';
import process from 'node:process';

const { CI_API_V4_URL: server, CI_PROJECT_ID: project, CI_MERGE_REQUEST_IID: request, PLAN_TOKEN: token } = process.env;

async function api(path, method = 'GET', body = undefined) {
  const answer = await fetch(`${server}/${path}`, {
    method,
    body: body && JSON.stringify({ body }),
    headers: { 'PRIVATE-TOKEN': token, 'Content-Type': 'application/json' },
    redirect: 'error',
    signal: AbortSignal.timeout(60_000),
  });
  if (!answer.ok) throw new Error(`GitLab answered ${method} ${path} with ${answer.status}.`);
  return answer;
}

/** The marker that meshwright writes as the last line of a page. */
const markerOf = (text) =>
  JSON.parse(/^<!-- meshwright: (.*) -->$/.exec(text.trimEnd().split('\n').at(-1))?.[1] ?? '{}');

/** Posts the plan, or replaces the plan of the same cluster. Only a comment of the token's own user is replaced. */
async function comment(file) {
  const page = readFileSync(file, 'utf8').trimEnd();
  const { cluster, effects } = markerOf(page);
  const lines = page.split('\n');
  const what = [
    ...(effects.includes('interrupt') ? ['the interruption'] : []),
    ...(effects.includes('upgrade') ? ['the update of macOS that follows'] : []),
  ];
  const asks =
    what.length === 0
      ? []
      : [`The person who starts the job \`apply\` after the merge allows ${what.join(' and ')}.`, ''];
  const body = [...lines.slice(0, -1), ...asks, lines.at(-1)].join('\n');
  const notes = `projects/${project}/merge_requests/${request}/notes`;
  const { id: self } = await (await api('user')).json();
  for (let next = '1'; next; ) {
    const answer = await api(`${notes}?per_page=100&page=${next}`);
    const old = (await answer.json()).find(
      ({ author, body: text }) => author.id === self && markerOf(text).cluster === cluster,
    );
    if (old) return api(`${notes}/${old.id}`, 'PUT', body);
    next = answer.headers.get('x-next-page');
  }
  return api(notes, 'POST', body);
}

if (token) {
  await comment(process.argv[2]).catch((error) => {
    console.error(`The plan was not posted: ${error}`);
    process.exitCode = 1;
  });
} else console.log('There is no variable PLAN_TOKEN, so the plan is only in the artifacts of this job.');
