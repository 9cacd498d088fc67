// A stand-in for `gh`, on the file $GITHUB_DOUBLE instead of GitHub. It answers only what the Action in examples/ci asks.
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

const { GITHUB_DOUBLE: file = '', GITHUB_REPOSITORY: repository } = process.env;
const site = JSON.parse(readFileSync(file, 'utf8'));
const [command, ...words] = process.argv.slice(2);
const option = (name) => words[words.indexOf(name) + 1];

function unknown() {
  console.error(`gh-double: unknown: ${[command, ...words].join(' ')}`);
  process.exit(1);
}

/** The answers to a GET request, by the form of its path. */
const answers = [
  [/^commits\/(\w+)\/pulls$/, (sha) => site.pulls.filter((one) => one.merge_commit_sha === sha)],
  [
    /^actions\/artifacts\?name=([\w.-]+)&per_page=100$/,
    (name) => ({ artifacts: site.artifacts.filter((one) => one.name === name) }),
  ],
  [/^actions\/runs\/(\d+)$/, (id) => site.runs[id]],
  [/^actions\/runs\/(\d+)\/approvals$/, (id) => site.approvals[id] ?? []],
  [/^collaborators\/([\w-]+)\/permission$/, (login) => ({ permission: site.permissions[login] ?? 'none' })],
  [/^issues\/(\d+)\/comments$/, (number) => [site.comments.filter((one) => one.issue === Number(number))]],
  [/^issues\/(\d+)\/events$/, (number) => [site.events.filter((one) => one.issue === Number(number))]],
  [/^issues\?state=open&creator=github-actions%5Bbot%5D&per_page=100$/, () => site.issues.filter((one) => one.isOpen)],
];

function api([path]) {
  const rest = path.startsWith(`repos/${repository}/`) ? path.slice(`repos/${repository}/`.length) : unknown();
  const method = words.includes('--method') ? option('--method') : 'GET';
  if (method === 'GET') {
    const [form, answer] = answers.find(([pattern]) => pattern.test(rest)) ?? unknown();
    const found = answer(form.exec(rest)[1]);
    console.log(JSON.stringify(found ?? unknown()));
    return;
  }
  const body = readFileSync(option('--field').replace('body=@', ''), 'utf8');
  if (body.length > 65_536) unknown();
  const [, issue] = /^issues\/(\d+)\/comments$/.exec(rest) ?? [];
  const [, id] = /^issues\/comments\/(\d+)$/.exec(rest) ?? [];
  if (method === 'POST' && issue !== undefined) {
    const user = { login: 'github-actions[bot]', type: 'Bot' };
    site.comments.push({ id: site.comments.length + 1, issue: Number(issue), user, body });
  } else if (method === 'PATCH' && id !== undefined) site.comments[Number(id) - 1].body = body;
  else unknown();
}

function issue([verb, number]) {
  const found = site.issues[Number(number) - 1];
  site.told.push(verb);
  if (verb === 'create') {
    const body = readFileSync(option('--body-file'), 'utf8');
    site.issues.push({ number: site.issues.length + 1, title: option('--title'), body, isOpen: true });
  } else if (verb === 'close') found.isOpen = false;
  else if (verb === 'edit') found.body = readFileSync(option('--body-file'), 'utf8');
  else if (verb !== 'comment') unknown();
}

function run([verb, id]) {
  if (verb !== 'download') unknown();
  const artifact = site.artifacts.find((one) => one.workflow_run.id === Number(id) && one.name === option('--name'));
  cpSync(artifact.file, join(option('--dir'), 'plan.json'));
}

({ api, issue, run })[command]?.(words) ?? (['api', 'issue', 'run'].includes(command) || unknown());
writeFileSync(file, JSON.stringify(site));
