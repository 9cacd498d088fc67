import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { root } from './sources.ts';

const config = 'oxlint.config.mjs';

/** A rule that a file breaks, and the line. */
interface Broken {
  readonly file: string;
  readonly line: number;
  readonly rule: string;
}

/**
 * Runs the linter of `npm run check:types`, without the rules that need types, on files that are given by their path in
 * the project and their text.
 */
export function lint(files: Readonly<Record<string, string>>): readonly Broken[] {
  const folder = mkdtempSync(join(tmpdir(), 'lint-'));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    // The linter matches paths and finds plugins relative to its configuration.
    for (const name of ['node_modules', 'scripts']) symlinkSync(join(root, name), join(folder, name));
    writeFileSync(join(folder, config), `export { default } from ${JSON.stringify(join(root, config))};`);
    const words = [join(root, 'node_modules/oxlint/bin/oxlint'), '-c', config, '--format', 'json', 'src'];
    const { stdout } = spawnSync(process.execPath, words, { cwd: folder, encoding: 'utf8' });
    const { diagnostics, number_of_files: count } = JSON.parse(stdout);
    if (count !== Object.keys(files).length) throw new Error(`the linter read ${count} files`);
    return diagnostics.map((one: { filename: string; code: string; labels: [{ span: { line: number } }] }) => ({
      file: one.filename,
      line: one.labels[0].span.line,
      rule: one.code,
    }));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
