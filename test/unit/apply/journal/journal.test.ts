import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type JournalEntry,
  journalFolder,
  newRunId,
  openJournal,
  parseJournal,
  readJournals,
} from '../../../../src/apply/journal/journal.ts';
import { readMeasuredCables } from '../../../../src/apply/journal/measured-cables.ts';
import { readRates } from '../../../../src/apply/journal/measured-rates.ts';
import { readSecrets } from '../../../../src/diagnostics/hide-secrets.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';
import { runModule } from '../../own-process.ts';
import { problemsOf } from '../../problems-of.ts';

const { at } = temporaryFolder();
let folders = 0;
const freshFolder = (): string => {
  folders += 1;
  return journalFolder(at(`${folders}`), 'studio-rack');
};
const secrets = readSecrets();
const openIn = (folder: string, runId: string) => openJournal(folder, runId, secrets);
const codeOf = (act: () => unknown) => problemsOf(act)[0]?.code;

const begin = { phase: 'run', cluster: 'studio-rack', verb: 'apply', controller: 'ana@desk' } as const;
const end = { phase: 'end', isInterrupted: false } as const;

describe('a run journal', () => {
  it('writes each record immediately as a line that only its owner can read', () => {
    const folder = freshFolder();
    const journal = openIn(folder, 'run-1');
    const path = join(folder, 'run-1.ndjson');
    journal.write(begin);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ seq: 1, runId: 'run-1', ...begin });
    journal.write(end);
    journal.close();
    journal.close();
    expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(3);
    expect([statSync(path).mode & 0o777, statSync(folder).mode & 0o777]).toEqual([0o600, 0o700]);
  });

  it('fails to open if its folder is not writable or its file exists', () => {
    const folder = freshFolder();
    mkdirSync(join(folder, '..'), { recursive: true });
    writeFileSync(folder, 'a file');
    expect(codeOf(() => openIn(folder, 'run-1'))).toBe('journal/cannot-write');
    const other = freshFolder();
    openIn(other, 'run-1').close();
    expect(codeOf(() => openIn(other, 'run-1'))).toBe('journal/cannot-write');
  });

  it('has owner-only permissions under any umask and follows no symbolic link', () => {
    const before = process.umask(0);
    try {
      const folder = freshFolder();
      openIn(folder, 'run-1').close();
      const path = join(folder, 'run-1.ndjson');
      expect([statSync(path).mode & 0o777, statSync(folder).mode & 0o777]).toEqual([0o600, 0o700]);
      symlinkSync(join(folder, 'elsewhere'), join(folder, 'run-2.ndjson'));
      expect(codeOf(() => openIn(folder, 'run-2'))).toBe('journal/cannot-write');
      expect(existsSync(join(folder, 'elsewhere'))).toBe(false);
    } finally {
      process.umask(before);
    }
  });

  it('reports a record that does not fit on the disk and keeps all earlier ones', async () => {
    const folder = freshFolder();
    const module = `import { openJournal } from './src/apply/journal/journal.ts';
import { readSecrets } from './src/diagnostics/hide-secrets.ts';
const journal = openJournal(${JSON.stringify(folder)}, 'run-1', readSecrets());
for (let done = 0; ; done += 1) {
  try { journal.write(${JSON.stringify(begin)}); } catch (error) { console.log(done, error.message); break; }
}`;
    const { said } = await runModule(module, 'ulimit -f 4');
    expect(said).toMatch(/^[1-9]\d* journal\/cannot-write: /);
    const [run] = readJournals(folder).runs;
    expect(run).toMatchObject({ damaged: 0, isEnded: false });
    expect(run?.records.length).toBe(Number(said.split(' ')[0]));
  });

  it('does not accept records after it is closed', () => {
    const journal = openIn(freshFolder(), 'run-1');
    journal.close();
    expect(codeOf(() => journal.write(end))).toBe('journal/cannot-write');
  });

  it('has a name that sorts by time', () => {
    expect(newRunId(new Date('2026-11-20T11:18:44.123Z'))).toMatch(/^20261120T111844-[0-9a-f]{6}$/);
  });

  it("hides secrets except in step and node names, because the journal's readers compare these names", () => {
    const folder = freshFolder();
    const known = readSecrets();
    known.add('studio');
    const journal = openJournal(folder, 'run-1', known);
    const about = { step: 'studio-1/run', node: 'studio-1', outcome: 'failed', ms: 1 } as const;
    journal.write({ phase: 'outcome', ...about, problems: [{ code: 'task/command-failed', detail: 'told studio' }] });
    journal.close();
    expect(parseJournal(readFileSync(join(folder, 'run-1.ndjson'), 'utf8'))).toMatchObject({
      records: [{ ...about, problems: [{ detail: 'told ********' }] }],
      damaged: 0,
    });
  });

  it('is deleted after fifty newer runs', () => {
    const folder = freshFolder();
    for (let at = 100; at < 160; at += 1) openIn(folder, `run-${at}`).close();
    const names = readdirSync(folder).sort();
    expect([names.length, names[0], names.at(-1)]).toEqual([50, 'run-110.ndjson', 'run-159.ndjson']);
  });
});

describe('the journal reader', () => {
  it('lists runs newest first, and whether each has ended', () => {
    const folder = freshFolder();
    for (const runId of ['20260101T000000-aaaaaa', '20260102T000000-aaaaaa']) {
      const journal = openIn(folder, runId);
      journal.write(begin);
      if (runId.startsWith('20260101')) journal.write(end);
      journal.close();
    }
    writeFileSync(join(folder, 'notes.txt'), 'mine');
    expect(readJournals(folder).runs.map(({ runId, isEnded, records }) => [runId, isEnded, records.length])).toEqual([
      ['20260102T000000-aaaaaa', false, 1],
      ['20260101T000000-aaaaaa', true, 2],
    ]);
  });

  it('ignores a record that was cut off while being written', () => {
    const folder = freshFolder();
    const journal = openIn(folder, 'run-1');
    journal.write(begin);
    journal.close();
    appendFileSync(join(folder, 'run-1.ndjson'), '{"seq":2,"at":"x","phase":"intent","st');
    expect(readJournals(folder).runs).toMatchObject([{ records: [begin], damaged: 0, isEnded: false }]);
    expect(parseJournal('')).toEqual({ records: [], damaged: 0 });
  });

  it('counts damaged, missing and mistyped records and keeps the others', () => {
    const folder = freshFolder();
    const journal = openIn(folder, 'run-1');
    const lease = { phase: 'lease', node: 'studio-1', state: 'taken', token: 7 } as const;
    for (const entry of [begin, lease, lease, lease, end]) journal.write(entry);
    journal.close();
    const lines = readFileSync(join(folder, 'run-1.ndjson'), 'utf8').split('\n');
    const read = (change: (lines: string[]) => void) => {
      const changed = [...lines];
      change(changed);
      const { records, damaged } = parseJournal(changed.join('\n'));
      return [records.map(({ seq }) => seq), damaged];
    };
    expect(read(() => undefined)).toEqual([[1, 2, 3, 4, 5], 0]);
    expect(read((all) => all.splice(1, 1))).toEqual([[1, 3, 4, 5], 1]);
    expect(read((all) => all.splice(0, 4, '\0'.repeat(300)))).toEqual([[5], 4]);
    expect(read((all) => all.splice(3, 2, 'null', '[1]'))).toEqual([[1, 2, 3], 2]);
    expect(read((all) => all.splice(2, 1, lines[2]?.replace('studio-1', 'studio-2') ?? ''))).toEqual([[1, 2, 4, 5], 1]);
    expect(read((all) => all.splice(1, 0, '{"seq":2,"at":"z","phase":"intent","step":null}'))).toEqual([
      [1, 2, 3, 4, 5],
      1,
    ]);
  });

  it('accepts older journals without checksums, but not mistyped records', () => {
    const old = { seq: 1, runId: 'run-1', at: '2026-01-01T00:00:00Z' };
    const text = (record: object): string => `${JSON.stringify({ ...old, ...record })}\n`;
    expect(parseJournal(text(begin))).toEqual({ records: [{ ...old, ...begin }], damaged: 0 });
    expect(parseJournal(text({ ...begin, verb: 7 }) + text({ ...end, seq: 2 }))).toMatchObject({ damaged: 1 });
  });

  it('reads journals with step names and codes that no current build uses', () => {
    const folder = freshFolder();
    const journal = openIn(folder, 'run-1');
    const step = { step: 'studio-1/placement/kimi/close-door', node: 'studio-1', outcome: 'unchanged', ms: 7 } as const;
    const outcome = { phase: 'outcome', ...step, problems: [{ code: 'exo/no-farewell', detail: 'x' }] } as const;
    for (const entry of [begin, outcome, end]) journal.write(entry);
    journal.close();
    expect(readJournals(folder).runs).toMatchObject([{ records: [begin, outcome, end], damaged: 0, isEnded: true }]);
  });

  it('returns readable journals and names unreadable files', () => {
    const folder = freshFolder();
    expect(readJournals(folder)).toEqual({ runs: [], problems: [] });
    openIn(folder, 'run-2').close();
    mkdirSync(join(folder, 'run-1.ndjson'));
    execFileSync('mkfifo', [join(folder, 'run-3.ndjson')]);
    const { runs, problems } = readJournals(folder);
    expect(runs.map(({ runId }) => runId)).toEqual(['run-2']);
    expect(problems.map(({ code, severity, detail }) => [code, severity, detail])).toEqual(
      ['run-3', 'run-1'].map((name) => [
        'journal/cannot-read',
        'warning',
        `${join(folder, `${name}.ndjson`)} cannot be read: it is not a file.`,
      ]),
    );
    const file = freshFolder();
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, '');
    expect(codeOf(() => readJournals(file))).toBe('journal/cannot-read');
  });
});

describe('the rates for the next plan', () => {
  type Transfer = readonly [node: string, from: string, bytes: number, ms?: number];

  /** Writes a run with these transfers. */
  function recordRun(folder: string, runId: string, transfers: readonly Transfer[]): void {
    const journal = openIn(folder, runId);
    journal.write(begin);
    for (const [node, from, bytes, ms = 10_000] of transfers) {
      const transfer = { from, bytes, ms };
      journal.write({ phase: 'outcome', step: `${node}/x`, node, outcome: 'changed', ms, transfer, problems: [] });
    }
    journal.close();
  }

  it('come from the newest run that measured them; over cables, the slowest node sets the rate', () => {
    const folder = freshFolder();
    recordRun(folder, '20261124T100000-aa', [
      ['studio-1', 'uplink', 9e9],
      ['studio-1', 'lan', 3e9],
    ]);
    recordRun(folder, '20261125T100000-bb', [
      ['studio-1', 'uplink', 1e9],
      ['studio-2', 'uplink', 2e9, 20_000],
      ['studio-3', 'cables', 5e9],
    ]);
    recordRun(folder, '20261126T100000-cc', [
      ['studio-2', 'cables', 20e9],
      ['studio-3', 'cables', 30e9],
    ]);
    // A rate of zero would make a plan endless.
    recordRun(folder, '20261127T100000-dd', [['studio-1', 'uplink', 0]]);
    const rates = Object.entries(readRates(folder)).map(([from, rate]) => [from, rate.bytesPerSecond]);
    // On the 25th, studio-3 could be no faster than the downloads.
    expect(Object.fromEntries(rates)).toEqual({ uplink: 150e6, lan: 300e6, cables: 2e9 });
  });

  it('are based on the newest TCP measurement of the slowest cable if a transfer uses a single cable', () => {
    const folder = freshFolder();
    const zero = { samples: 0, lost: 0, medianNs: 0, p99Ns: 0, maxNs: 0, missing: 0, wrong: 0 };
    const record = (runId: string, all: readonly (readonly [string, number])[]): void => {
      const journal = openIn(folder, runId);
      journal.write(begin);
      for (const [end, rate] of all) {
        const tcp = { ...zero, bytesPerSecond: [4e9, rate] };
        journal.write({ phase: 'measured', ends: ['studio-1:1', end], verdict: 'unrated', tcp });
      }
      journal.close();
    };
    record('20261124T100000-aa', [
      ['studio-2:1', 1e9],
      ['studio-3:1', 2e9],
    ]);
    record('20261125T100000-bb', [['studio-2:1', 3e9]]);
    expect(readRates(folder).oneCable?.bytesPerSecond).toBe(2e9);
  });

  it('are unknown without journals, or if their folder cannot be read', () => {
    const folder = freshFolder();
    expect(readRates(folder)).toEqual({});
    mkdirSync(join(folder, '..'), { recursive: true });
    writeFileSync(folder, '');
    expect(readRates(folder)).toEqual({});
  });
});

describe('the measured cables', () => {
  const [near, far, other] = ['studio-1:1', 'studio-2:1', 'studio-3:1'];
  const change = 'studio-1 placement/chat';
  const write = (folder: string, runId: string, bodies: readonly JournalEntry[]): void => {
    const journal = openIn(folder, runId);
    journal.write(begin);
    for (const body of bodies) journal.write(body);
    journal.close();
  };
  const measuredAs = (verdict: 'dead' | 'tcp-only' | 'unrated', ...ends: readonly string[]): JournalEntry => ({
    phase: 'measured',
    ends,
    verdict,
  });
  const step = (
    node: string,
    act: string,
    outcome: 'changed' | 'failed' = 'changed',
    start: 'start' | 'rdma-start' = 'start',
  ): readonly JournalEntry[] => {
    const effect = act === 'prove' ? 'none' : start;
    const intent = { phase: 'intent', step: `${node}/${act}`, node, act, effect, class: 'converge' } as const;
    return [
      { ...intent, changes: [change] },
      { phase: 'outcome', step: intent.step, node, outcome, ms: 1, problems: [] },
    ];
  };
  const verdicts = (folder: string) => readMeasuredCables(folder).map(({ cable }) => [...cable.ends, cable.verdict]);

  it('no longer include a dead cable whose Macs served a placement afterwards', () => {
    const folder = freshFolder();
    write(folder, '20261124T100000-aa', [measuredAs('unrated', near, far)]);
    write(folder, '20261125T100000-bb', [measuredAs('dead', near, far), measuredAs('dead', near, other)]);
    const starts = [...step('studio-1', 'script'), ...step('studio-2', 'script')];
    write(folder, '20261126T100000-cc', [...starts, ...step('studio-1', 'prove', 'failed')]);
    expect(verdicts(folder)).toEqual([
      [near, far, 'dead'],
      [near, other, 'dead'],
    ]);
    write(folder, '20261127T100000-dd', [...starts, ...step('studio-1', 'prove')]);
    expect(verdicts(folder)).toEqual([[near, other, 'dead']]);
    write(folder, '20261128T100000-ee', [measuredAs('dead', near, far)]);
    expect(verdicts(folder)).toContainEqual([near, far, 'dead']);
  });

  it('no longer include a cable without RDMA only after a start over RDMA', () => {
    const folder = freshFolder();
    write(folder, '20261124T100000-aa', [measuredAs('tcp-only', near, far)]);
    const starts = (start: 'start' | 'rdma-start') =>
      ['studio-1', 'studio-2'].flatMap((node) => step(node, 'script', 'changed', start));
    write(folder, '20261125T100000-bb', [...starts('start'), ...step('studio-1', 'prove')]);
    expect(verdicts(folder)).toEqual([[near, far, 'tcp-only']]);
    write(folder, '20261126T100000-cc', [...starts('rdma-start'), ...step('studio-1', 'prove')]);
    expect(verdicts(folder)).toEqual([]);
  });
});
