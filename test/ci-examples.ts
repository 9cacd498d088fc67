import { parse } from 'yaml';
import { textOf } from './architecture/sources.ts';

/** One step of a job, which a shell runs. */
export interface CiStep {
  readonly job: string;
  readonly script: string;
}

interface GithubJob {
  readonly steps: readonly { readonly run?: string }[];
}

interface GitlabJob {
  readonly script?: readonly string[];
}

const github = parse(textOf('examples/ci/github.yml')) as { readonly jobs: Readonly<Record<string, GithubJob>> };
const gitlab = parse(textOf('examples/ci/gitlab.yml')) as Readonly<Record<string, GitlabJob>>;

/** The steps of both examples, in their order. */
export const ciSteps: Readonly<Record<'github' | 'gitlab', readonly CiStep[]>> = {
  github: Object.entries(github.jobs).flatMap(([job, { steps }]) =>
    steps.flatMap(({ run }) => (run === undefined ? [] : [{ job, script: run }])),
  ),
  gitlab: Object.entries(gitlab).flatMap(([job, { script = [] }]) => script.map((line) => ({ job, script: line }))),
};

/** The meshwright commands in a script, up to a redirection. */
export const meshwrightLines = (script: string): readonly string[] =>
  [...script.matchAll(/^\s*(meshwright [^>|;&\n]*)/gm)].map(([, line = '']) => line.trim());
