// What the Action asks GitHub, with `gh`: node github.mjs comment | reviewed | drift. docs/ci.md explains each rule.
import { execFileSync } from 'node:child_process';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';

const { env } = process;
const repository = `repos/${env.GITHUB_REPOSITORY}`;

const gh = (...words) => execFileSync('gh', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
const api = (path, ...words) => JSON.parse(gh('api', `${repository}/${path}`, ...words));
const all = (path) => api(path, '--paginate', '--slurp').flat();

/** The label of each job that needs consent, and what `--allow` gets then. */
const jobs = {
  apply: { label: 'interrupt', what: 'interruption', effects: ['interrupt'] },
  upgrade: { label: 'upgrade', what: 'update of macOS after the merge', effects: ['interrupt', 'reboot'] },
};

/** The marker that meshwright writes as the last line of a page. */
const markerOf = (text) =>
  JSON.parse(/^<!-- meshwright: (.*) -->$/.exec(text.trimEnd().split('\n').at(-1))?.[1] ?? '{}');

const isOurs = ({ user }) => user?.login === 'github-actions[bot]';

function end(message) {
  console.log(`::error::${message}`);
  process.exit(5);
}

/** Posts the plan, or replaces the plan of the same cluster. */
function comment(file, pullRequest) {
  const page = readFileSync(file, 'utf8').trimEnd();
  const { cluster, digest, effects } = markerOf(page);
  const lines = page.split('\n');
  const asks = Object.values(jobs).flatMap(({ label, what }) =>
    effects.includes(label)
      ? [`To allow the ${what}, someone with write access adds the label \`${label}-${digest}\`.`, '']
      : [],
  );
  writeFileSync(file, `${[...lines.slice(0, -1), ...asks, lines.at(-1)].join('\n')}\n`);
  const old = all(`issues/${pullRequest}/comments`).find(
    (one) => isOurs(one) && markerOf(one.body).cluster === cluster,
  );
  const path = old === undefined ? `issues/${pullRequest}/comments` : `issues/comments/${old.id}`;
  gh('api', `${repository}/${path}`, '--method', old === undefined ? 'POST' : 'PATCH', '--field', `body=@${file}`);
}

/** The pull request that this commit merged. */
function mergedPullRequest() {
  const found = api(`commits/${env.GITHUB_SHA}/pulls`).find((one) => one.merge_commit_sha === env.GITHUB_SHA);
  return found ?? end('This commit merges no pull request, so its plan was not reviewed.');
}

/**
 * The newest plan of the pull request's last commit. Only a run of this very workflow for `pull_request_target` counts:
 * GitHub takes its file from the default branch, so a pull request cannot change it.
 */
function reviewedArtifact(name) {
  const workflow = env.GITHUB_WORKFLOW_REF.replace(`${env.GITHUB_REPOSITORY}/`, '').replace(/@.*/, '');
  const isTrusted = ({ workflow_run: { id } }) => {
    const run = api(`actions/runs/${id}`);
    return run.event === 'pull_request_target' && run.path.replace(/@.*/, '') === workflow;
  };
  const { artifacts } = api(`actions/artifacts?name=${name}&per_page=100`);
  const newest = artifacts.filter(({ expired }) => !expired).sort((a, b) => (a.created_at < b.created_at ? 1 : -1));
  return newest.find(isTrusted) ?? end(`There is no plan ${name} of this workflow. Run the job plan again.`);
}

const isPerson = (user) => user?.type === 'User';

/** True for a person who may push; a label that a workflow sets counts for nothing. */
const mayAgree = (user) =>
  isPerson(user) && ['admin', 'write'].includes(api(`collaborators/${user.login}/permission`).permission);

/** What `--allow` gets: from an approval of this run's environment, or from labels set after the plan was made. */
function consent({ number, labels }, plan, { label: word, effects }) {
  const approvals = api(`actions/runs/${env.GITHUB_RUN_ID}/approvals`);
  if (approvals.some(({ state, user }) => state === 'approved' && isPerson(user))) return effects;
  const events = all(`issues/${number}/events`).filter(({ event }) => event === 'labeled');
  return labels.flatMap(({ name }) => {
    const [, given, digest] = /^(interrupt|upgrade)-([0-9a-f]{32})$/.exec(name) ?? [];
    const last = events.findLast(({ label }) => label.name === name);
    const isValid = given === word && last?.created_at > plan.created_at && mayAgree(last.actor);
    return isValid ? effects.map((effect) => `${effect}=${digest}`) : [];
  });
}

/** Fetches the reviewed plan, and tells the next step what is allowed. */
function reviewed(prefix, folder, job) {
  const pull = mergedPullRequest();
  const name = `${prefix}-${pull.head.sha}`;
  const plan = reviewedArtifact(name);
  gh('run', 'download', String(plan.workflow_run.id), '--name', name, '--dir', folder);
  const { updates } = JSON.parse(readFileSync(`${folder}/plan.json`, 'utf8'));
  const allowed = consent(pull, plan, jobs[job]);
  if (allowed.length === 0 && (job === 'apply' || updates !== undefined)) {
    console.log(
      `::notice::Pull request ${pull.number} has no consent to an ${job === 'apply' ? 'interruption' : 'update of macOS'}. If the plan has one, someone with write access adds the label in the plan's comment; then run this job again.`,
    );
  }
  appendFileSync(env.GITHUB_OUTPUT, `allow=${allowed.join(',')}\nupdates=${updates !== undefined}\n`);
}

/** Reports drift once, again only if it is a different one, and closes the issue when it is gone. */
function drift(file, code) {
  const page = readFileSync(file, 'utf8');
  const { cluster, digest } = markerOf(page);
  const title = `The rack ${cluster} has drifted`;
  const open = api('issues?state=open&creator=github-actions%5Bbot%5D&per_page=100').find((one) => one.title === title);
  if (code === '0') {
    if (open !== undefined) gh('issue', 'close', String(open.number), '--comment', 'The rack matches the file again.');
  } else if (open === undefined) gh('issue', 'create', '--title', title, '--body-file', file);
  else if (markerOf(open.body).digest !== digest) {
    gh('issue', 'edit', String(open.number), '--body-file', file);
    gh(
      'issue',
      'comment',
      String(open.number),
      '--body',
      'The drift has changed. The description shows the current one.',
    );
  }
}

const [, , command, ...words] = process.argv;
({ comment, reviewed, drift })[command](...words);
