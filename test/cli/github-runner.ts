import { execFileSync } from 'node:child_process';
import { appendFileSync, copyFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { simFolder } from '../../src/cli/files/places.ts';
import { actionFolder, type CiStep, githubJobs } from '../ci-examples.ts';
import { writeSources } from '../scenarios/converge-file.ts';
import type { Ran } from './meshwright.ts';
import type { Place } from './place.ts';
import { install, program, shell } from './shell.ts';

interface Person {
  readonly login: string;
  readonly type: 'User' | 'Bot';
}

/** A repository on the stand-in for GitHub. */
interface Site {
  readonly pulls: {
    readonly number: number;
    readonly head: { readonly sha: string };
    readonly labels: { readonly name: string }[];
    merge_commit_sha: string | null;
  }[];
  readonly artifacts: {
    readonly name: string;
    readonly created_at: string;
    readonly expired: boolean;
    readonly workflow_run: { readonly id: number };
    readonly file: string;
  }[];
  readonly runs: Record<string, { readonly event: string; readonly path: string }>;
  readonly approvals: Record<string, { readonly state: string; readonly user: Person }[]>;
  readonly permissions: Record<string, string>;
  readonly comments: { readonly issue: number; readonly body: string }[];
  readonly events: object[];
  readonly issues: { readonly title: string; readonly body: string; readonly isOpen: boolean }[];
  /** The commands of `gh issue` that people got a message about. */
  readonly told: string[];
}

const workflow = '.github/workflows/meshwright.yml';
const example = (name: string): string => fileURLToPath(new URL(`../../examples/ci/${name}`, import.meta.url));

export type GithubRepository = Awaited<ReturnType<typeof githubRepository>>;

/**
 * A bare repository with the example's workflow and Action, in which only GitHub pushes to main, and a runner that runs
 * the jobs of the workflow in main on the simulated rack of a place.
 */
export async function githubRepository(place: Place, clusterText: string) {
  const at = (name: string): string => join(place.root, name);
  const [origin, clone, work, temp, file] = ['origin.git', 'clone', 'work', 'temp', 'github.json'].map(at) as [
    ...[string, string, string, string, string],
  ];
  const person = ['-c', 'user.name=Ana', '-c', 'user.email=ana@example.com'];
  const merges = { ...place.env, MERGED_BY: 'github' };
  const git = (folder: string, words: readonly string[], env: NodeJS.ProcessEnv = place.env): string =>
    execFileSync('git', ['-C', folder, ...person, ...words], { env, encoding: 'utf8', stdio: 'pipe' }).trim();
  let seconds = 0;
  const now = (): string => {
    seconds += 1;
    return new Date(Date.UTC(2026, 10, 30, 0, 0, seconds)).toISOString();
  };
  const read = (): Site => JSON.parse(readFileSync(file, 'utf8'));
  const change = (edit: (site: Site) => void): void => {
    const site = read();
    edit(site);
    writeFileSync(file, JSON.stringify(site));
  };

  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', origin], { env: place.env });
  git(origin, ['config', 'uploadpack.allowAnySHA1InWant', 'true']);
  const hook = join(origin, 'hooks/update');
  writeFileSync(
    hook,
    '#!/bin/sh\n[ "$1" != refs/heads/main ] || [ "$MERGED_BY" = github ] || { echo protected >&2; exit 1; }\n',
    {
      mode: 0o755,
    },
  );
  execFileSync('git', ['clone', '--quiet', origin, clone], { env: place.env, stdio: 'pipe' });
  const put = (name: string, text: string): void => {
    mkdirSync(dirname(join(clone, name)), { recursive: true });
    writeFileSync(join(clone, name), text);
  };
  put('cluster.yaml', clusterText);
  await writeSources(clone);
  const simulated = simFolder(place.env, join(place.folder, 'cluster.yaml'));
  copyFileSync(join(simulated, 'cluster.lock'), join(clone, 'cluster.lock'));
  put(workflow, readFileSync(example('github.yml'), 'utf8'));
  for (const name of ['action.yml', 'github.mjs']) put(join(actionFolder, name), readFileSync(example(name), 'utf8'));
  git(clone, ['add', '--all']);
  git(clone, ['commit', '--quiet', '--message', 'Describe the rack']);
  git(clone, ['push', '--quiet', 'origin', 'HEAD:main'], merges);
  const empty = { pulls: [], artifacts: [], runs: {}, approvals: {}, comments: [], events: [], issues: [], told: [] };
  writeFileSync(file, JSON.stringify({ ...empty, permissions: { ana: 'write', tri: 'read' } }));

  install(place, 'gh', `exec "${process.execPath}" "${fileURLToPath(new URL('gh-double.mjs', import.meta.url))}" "$@"`);
  install(place, 'node', `exec "${process.execPath}" "$@"`);
  install(place, 'meshwright', `[ "$1" = validate ] || [ -n "$REAL_MACS" ] || set -- "$@" --sim\n${program}`);
  // All checkouts of the file describe the rack that is already up.
  for (const folder of [work, join(temp, 'head')]) {
    symlinkSync(simulated, simFolder(place.env, join(folder, 'cluster.yaml')));
  }

  let runs = 100;
  const runnerEnv = (event: string, outputs: string): Readonly<Record<string, string>> => ({
    CI: 'true',
    GITHUB_ACTIONS: 'true',
    GITHUB_WORKSPACE: work,
    GITHUB_REPOSITORY: 'acme/rack',
    GITHUB_WORKFLOW_REF: `acme/rack/${workflow}@refs/heads/main`,
    GITHUB_SHA: git(work, ['rev-parse', 'HEAD']),
    GITHUB_REF_NAME: 'main',
    GITHUB_RUN_ID: String(runs),
    GITHUB_EVENT_NAME: event,
    GITHUB_ACTION_PATH: join(work, actionFolder),
    GITHUB_OUTPUT: outputs,
    GITHUB_STEP_SUMMARY: at('summary.md'),
    RUNNER_TEMP: temp,
    GITHUB_DOUBLE: file,
    MERGED_BY: 'github',
  });

  /** Runs a job of the workflow in main; stops at the first failed step. */
  async function runJob(
    event: string,
    job: string,
    inputs: Readonly<Record<string, string>>,
    jobEnv: Readonly<Record<string, string>> = {},
  ): Promise<readonly Ran[]> {
    runs += 1;
    change((site) => void Object.assign(site.runs, { [runs]: { event, path: workflow } }));
    for (const folder of [work, temp]) rmSync(folder, { recursive: true, force: true });
    mkdirSync(temp);
    execFileSync('git', ['clone', '--quiet', origin, work], { env: place.env, stdio: 'pipe' });
    const values: Record<string, string> = {
      'inputs.do': job,
      'inputs.file': 'cluster.yaml',
      'github.workspace': work,
      'github.token': 'x',
    };
    for (const [name, value] of Object.entries(inputs)) values[`inputs.${name}`] = value;
    const filled = (text: string): string =>
      text.replaceAll(/\$\{\{ ([\w.-]+) \}\}/g, (_, name: string) => values[name] ?? '');
    const rans: Ran[] = [];
    const runStep = async ({ script, env = {}, id }: CiStep): Promise<void> => {
      const outputs = at('outputs');
      writeFileSync(outputs, '');
      const own = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, filled(value)]));
      rans.push(await shell(place, script, { folder: work, env: { ...runnerEnv(event, outputs), ...jobEnv, ...own } }));
      for (const line of readFileSync(outputs, 'utf8').split('\n')) {
        const [name = '', value = ''] = line.split(/=(.*)/s);
        values[`steps.${id}.outputs.${name}`] = value;
      }
    };
    const steps = githubJobs(readFileSync(join(work, workflow), 'utf8')).filter((step) => step.job === job);
    for (const step of steps) {
      const hasFailed = rans.some(({ code }) => code !== 0);
      if (!hasFailed || step.isAlways) await runStep(step);
    }
    return rans;
  }

  const pullOf = (site: Site, number: number) => site.pulls[number - 1] as Site['pulls'][number];

  return {
    read,
    change,
    clone,
    git: (...words: readonly string[]) => git(clone, words),
    /** Pushes a branch with these files, and opens a pull request for it. */
    open: (files: Readonly<Record<string, string>>): number => {
      const number = read().pulls.length + 1;
      git(clone, ['fetch', '--quiet', 'origin']);
      git(clone, ['checkout', '--quiet', '-B', `change-${number}`, 'origin/main']);
      for (const [name, text] of Object.entries(files)) put(name, text);
      git(clone, ['add', '--all']);
      git(clone, ['commit', '--quiet', '--message', 'Change the rack']);
      git(clone, ['push', '--quiet', 'origin', 'HEAD']);
      const sha = git(clone, ['rev-parse', 'HEAD']);
      change((site) => void site.pulls.push({ number, head: { sha }, labels: [], merge_commit_sha: null }));
      return number;
    },
    /** The job `plan`, as GitHub starts it after each push to the pull request. */
    plan: async (number: number, env: Readonly<Record<string, string>> = {}): Promise<readonly Ran[]> => {
      const { sha } = pullOf(read(), number).head;
      const rans = await runJob('pull_request_target', 'plan', { head: sha, 'pull-request': String(number) }, env);
      if (rans.every(({ code }) => code === 0)) keep(`plan-cluster.yaml-${sha}`, join(temp, 'plan.json'));
      return rans;
    },
    keep,
    merge: (number: number, message = `Merge pull request ${number}`): void => {
      const { sha } = pullOf(read(), number).head;
      git(clone, ['fetch', '--quiet', 'origin']);
      git(clone, ['checkout', '--quiet', '-B', 'merge', 'origin/main']);
      git(clone, ['merge', '--quiet', '--no-ff', '--message', message, sha]);
      git(clone, ['push', '--quiet', 'origin', 'HEAD:main'], merges);
      change(
        (site) => void Object.assign(pullOf(site, number), { merge_commit_sha: git(clone, ['rev-parse', 'HEAD']) }),
      );
    },
    apply: () => runJob('push', 'apply', {}),
    upgrade: () => runJob('push', 'upgrade', {}),
    drift: () => runJob('schedule', 'drift', {}),
    label: (number: number, name: string, actor: Person): void =>
      change((site) => {
        pullOf(site, number).labels.push({ name });
        site.events.push({ issue: number, event: 'labeled', label: { name }, actor, created_at: now() });
      }),
    approveNext: (user: Person): void =>
      change((site) => void Object.assign(site.approvals, { [runs + 1]: [{ state: 'approved', user }] })),
  };

  /** Keeps a file as an artifact of the last run. */
  function keep(name: string, path: string): void {
    const kept = at(`artifact-${runs}`);
    copyFileSync(path, kept);
    appendFileSync(at('kept'), `${kept}\n`);
    const about = { name, created_at: now(), expired: false, workflow_run: { id: runs }, file: kept };
    change((site) => void site.artifacts.push(about));
  }
}
