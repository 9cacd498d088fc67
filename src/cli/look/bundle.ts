import { resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { readJournals } from '../../apply/journal/journal.ts';
import { jsonText } from '../../diagnostics/escape.ts';
import { hideInFields } from '../../diagnostics/hide-secrets.ts';
import { documentHead } from '../../diagnostics/json.ts';
import type { BundleDocument } from '../../model/documents.generated.ts';
import { tar } from '../../model/tar.ts';
import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { bytesText, utcText } from '../../model/text/units.ts';
import { type Evidence, evidenceText } from '../../report/evidence.ts';
import { plainPaint } from '../../report/page.ts';
import { openCluster } from '../cluster/open-cluster.ts';
import { codeForNodes } from '../exit-codes.ts';
import { journalsOf } from '../files/places.ts';
import { shownPath } from '../files/read-file.ts';
import { replaceFile } from '../files/write-file.ts';
import { pageFor } from '../terminal/console.ts';
import { type Run, textOption, usageError, type VerbBody } from '../verb.ts';
import { namedAt } from './history.ts';
import { evidenceSecrets, readEvidence, savedIncidents, saveEvidence } from './save-evidence.ts';
import { checkFleet, doctorParts } from './status.ts';

/** `bundle [incident]`: packs the evidence of an incident, or of now, into one archive. */
export const bundle: VerbBody = async (run) => {
  const [id] = run.words;
  const saved = id === undefined ? await evidenceOfNow(run) : evidenceOf(run, id);
  const evidence = { ...saved, files: { ...saved.files, ...journalFiles(run, saved) } };
  const name = `meshwright-bundle-${saved.id}`;
  const path = resolve(run.folder, textOption(run, 'out') ?? `${name}.tar.gz`);
  const head = `Evidence of incident ${saved.id} on ${saved.cluster}, saved at ${utcText(namedAt(saved.id))} (version ${saved.version} of meshwright).`;
  const readme = evidenceText(head, evidence, { ...pageFor(run.console), columns: 80, paint: plainPaint });
  const files = Object.entries({ 'README.txt': readme, ...evidence.files }).map(([file, content]) => ({
    path: `${name}/${file}`,
    mode: 0o644,
    content: Buffer.from(typeof content === 'string' ? content : `${jsonText(content)}\n`),
  }));
  const archive = gzipSync(tar(files));
  replaceFile(path, archive, 0o600);
  const { unread, diagnostics } = saved;
  const document: BundleDocument = {
    ...documentHead(run.console, { cluster: saved.cluster }),
    incident: saved.id,
    file: path,
    sizeBytes: archive.length,
    contents: files.map((file) => ({ name: file.path, sizeBytes: file.content.length })),
    unread,
    diagnostics,
  };
  return {
    exit: codeForNodes(saved.nodes.map((node) => (unread.includes(node) ? 'unjudged' : 'fine'))),
    document,
    text: evidenceText(
      `Wrote ${bytesText(archive.length)}:`,
      evidence,
      pageFor(run.console),
      shownPath(run.folder, path),
    ),
  };
};

async function evidenceOfNow(run: Run): Promise<Evidence> {
  const checked = await checkFleet(run);
  const { id } = await saveEvidence(run, { ...checked, document: doctorParts(checked).document });
  return readEvidence(run, checked.desired.name, id);
}

/** @throws FleetError `cli/usage` if this computer has no such incident */
function evidenceOf(run: Run, id: string): Evidence {
  const { fleet } = openCluster(run);
  const known = savedIncidents(run, fleet.name);
  if (known.includes(id)) return readEvidence(run, fleet.name, id);
  const hint =
    known.length === 0
      ? 'None is saved on this computer.'
      : `Saved on this computer, newest first: ${known.join(', ')}.`;
  throw usageError(
    `Unknown incident ${JSON.stringify(id)}.`,
    prose`${hint} To save the evidence of now: ${meshwright('bundle')}`,
  );
}

const daySeconds = 86_400;
const mostJournalBytes = 1_048_576;

/** The journals of the runs around an incident, newest first, as many as fit. */
function journalFiles(run: Run, { id, cluster }: Evidence): Readonly<Record<string, string>> {
  const secrets = evidenceSecrets(run);
  let left = mostJournalBytes;
  const files = readJournals(journalsOf(run, cluster)).runs.flatMap(({ runId, records }) => {
    if (Math.abs(namedAt(runId) - namedAt(id)) > daySeconds) return [];
    const text = records.map((record) => `${JSON.stringify(hideInFields(record, secrets))}\n`).join('');
    left -= Buffer.byteLength(text);
    return left < 0 ? [] : [[`journal/${runId}.ndjson`, text] as const];
  });
  return Object.fromEntries(files);
}
