import { parse } from 'yaml';
import { textOf } from './architecture/sources.ts';

/** One step of a job, which a shell runs. */
export interface CiStep {
  readonly job: string;
  readonly script: string;
  /** The step's variables, with expressions such as `${{ inputs.file }}`. */
  readonly env?: Readonly<Record<string, string>>;
  /** The name by which later steps read its outputs. */
  readonly id?: string;
  /** True if it runs after a failure. */
  readonly isAlways?: true;
}

interface GithubStep {
  readonly run?: string;
  readonly uses?: string;
  readonly with?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly id?: string;
  readonly if?: string;
}

interface GitlabJob {
  readonly script?: readonly string[];
}

const action = parse(textOf('examples/ci/action.yml')) as { readonly runs: { readonly steps: readonly GithubStep[] } };

/** The folder to which docs/ci.md says that the Action is copied. */
export const actionFolder = '.github/actions/meshwright';

/** The shell steps of a job on GitHub, with those of our own Action in place of its use. */
function githubSteps(job: string, steps: readonly GithubStep[]): readonly CiStep[] {
  return steps.flatMap((step): readonly CiStep[] => {
    if (step.uses === `./${actionFolder}`) {
      const isOurs = ({ if: only }: GithubStep): boolean =>
        only === undefined || only.includes(`'${step.with?.['do']}'`);
      return githubSteps(job, action.runs.steps.filter(isOurs));
    }
    const { run, env, id } = step;
    if (run === undefined) return [];
    return [
      {
        job,
        script: run,
        ...(env && { env }),
        ...(id && { id }),
        ...(step.if?.includes('always()') && { isAlways: true }),
      },
    ];
  });
}

/** The steps of a workflow for GitHub, given as text. */
export function githubJobs(workflow: string): readonly CiStep[] {
  const { jobs } = parse(workflow) as { readonly jobs: Readonly<Record<string, { readonly steps: GithubStep[] }>> };
  return Object.entries(jobs).flatMap(([job, { steps }]) => githubSteps(job, steps));
}

const gitlab = parse(textOf('examples/ci/gitlab.yml')) as Readonly<Record<string, GitlabJob>>;

/** The steps of both examples, in their order. */
export const ciSteps: Readonly<Record<'github' | 'gitlab', readonly CiStep[]>> = {
  github: githubJobs(textOf('examples/ci/github.yml')),
  gitlab: Object.entries(gitlab).flatMap(([job, { script = [] }]) => script.map((line) => ({ job, script: line }))),
};

/** Words that a shell leaves out without a person's consent. */
const optional = '${ALLOW:+--allow "$ALLOW"}';

/** The meshwright commands in a script, up to a redirection. */
export const meshwrightLines = (script: string): readonly string[] =>
  [...script.replace(optional, '--allow interrupt').matchAll(/^(?:cd \S+ && )?\s*(meshwright [^>|;&\n]*)/gm)].map(
    ([, line = '']) => line.trim(),
  );
