import { dirname } from 'node:path';
import { isCommit } from '../../desired/hub-source.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { DesiredFleet, DesiredModel, HubSource, UnreadSource } from '../../model/desired.ts';
import { given } from '../../model/given.ts';
import { secretSourceText } from '../../model/secret.ts';
import { modelSubject, namedSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { type ResolvedSecret, resolveSecret } from '../../secrets/resolve-secret.ts';
import type { OpenedCluster } from '../cluster/open-cluster.ts';
import { hostRequest, needTrust, tokenHostRequests } from '../cluster/trust.ts';
import { withProgress } from '../terminal/console.ts';
import type { Run } from '../verb.ts';
import { webAccess } from './http-get.ts';
import { currentCommit, type HubAccess, resolveRepository, tokenReader } from './hub.ts';
import { type List, readLists } from './list.ts';
import { secretContext } from './secrets.ts';
import { rehearsalWeb } from './simulated-web.ts';

/** The form of a token, which is sent in a header and in a line of curl's configuration. */
const tokenForm = /^[A-Za-z0-9._~+/=-]+$/;

const overHttps = 'Set `downloads.mirror` to an https URL.';

/**
 * The Hugging Face token; undefined if the file has no source for it. Over plain http, no server gets it.
 * @throws FleetError `trust/needed` if the caller did not allow the source, or to send the token to the mirror
 */
export async function readToken(
  run: Run,
  { downloads }: Pick<DesiredFleet, 'downloads'>,
  folder: string,
): Promise<ResolvedSecret | undefined> {
  const source = downloads?.token;
  if (source === undefined) return undefined;
  const subject = namedSubject('secrets.huggingface');
  const question = 'Hugging Face token';
  if (downloads?.mirror?.startsWith('http:') === true && run.options.sim !== true) {
    const detail = `The token would reach ${new URL(downloads.mirror).host} in clear text. Nothing was sent.`;
    return { kind: 'missing', diagnostic: diagnose('secret/unusable', { detail, subject, hint: overHttps }) };
  }
  if (run.options.sim !== true) await needTrust(run, tokenHostRequests({ ...given({ downloads }) }));
  const found = await resolveSecret(source, secretContext(run, { subject, folder, question, what: 'token' }));
  if (found.kind === 'missing' || tokenForm.test(found.secret.reveal())) return found;
  const detail = `The token comes from ${secretSourceText(source)}. It has characters that no Hugging Face token has.`;
  return { kind: 'missing', diagnostic: diagnose('secret/unusable', { detail, subject }) };
}

/** How this run reaches Hugging Face, or why it cannot. A rehearsal uses simulated servers and their tiny models. */
export async function hubAccess(
  run: Run,
  { fleet, path }: Pick<OpenedCluster, 'fleet' | 'path'>,
): Promise<HubAccess | UnreadSource> {
  const onPause = (seconds: number): void =>
    run.console.err(`Hugging Face limits the rate of requests: waiting ${seconds} s\n`);
  const token = tokenReader(() => readToken(run, fleet, dirname(path)));
  const access = { pauses: { seconds: 0 }, onPause, token };
  const web = await rehearsalWeb(run, path, 'Hugging Face');
  if (web === undefined) {
    const { mirror } = fleet.downloads ?? {};
    if (mirror !== undefined) await needTrust(run, hostRequest(mirror, 'Hugging Face'));
    return { ...access, ...webAccess(run), downloads: fleet.downloads ?? {} };
  }
  return 'kind' in web ? web : { ...access, ...webAccess(run, web.ca), downloads: { mirror: web.origin } };
}

export const listRepositories: List<'hub'> = async (run, opened, places) => {
  const access = await hubAccess(run, opened);
  return readLists(run, places, ({ hub }) => ('kind' in access ? access : resolveRepository(hub, access)));
};

/** A notice for each locked model whose branch names another commit now, or could not be read. */
export async function movedRevisions(
  run: Run,
  opened: Pick<OpenedCluster, 'fleet' | 'path'>,
  models: readonly DesiredModel[],
): Promise<readonly Diagnostic[]> {
  const branches = models.flatMap(({ name, hub }) =>
    hub?.commit === undefined || isCommit(hub.revision) ? [] : [{ name, hub }],
  );
  if (branches.length === 0) return [];
  const access = await hubAccess(run, opened);
  const notices = await withProgress(run.console, ['checking revisions', branches], (done) =>
    Promise.all(
      branches.map(async ({ name, hub }) => {
        const now = 'kind' in access ? access : await currentCommit(hub, access);
        done(name);
        return revisionNotice(name, hub, now);
      }),
    ),
  );
  return notices.flat();
}

/** A notice if a revision names another commit than the lock, or if that is unknown. */
export function revisionNotice(
  name: string,
  { repository, revision, commit = '' }: HubSource,
  now: { readonly kind: 'known'; readonly commit: string } | UnreadSource,
): readonly Diagnostic[] {
  const subject = modelSubject(name);
  if (now.kind !== 'known') {
    const detail = `Whether ${revision} has moved is unknown. ${now.detail}`;
    return [diagnose('model/revision-unknown', { subject, detail })];
  }
  if (now.commit === commit) return [];
  const detail = `${revision} of ${repository} moved from ${commit.slice(0, 12)} to ${now.commit.slice(0, 12)}. The lock keeps ${commit.slice(0, 12)}.`;
  const hint = prose`To use the new commit: ${meshwright('models lock', name)}`;
  return [diagnose('model/revision-moved', { subject, detail, hint })];
}
