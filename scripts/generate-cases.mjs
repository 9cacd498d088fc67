/**
 * Generates `docs/cases.md` from `scripts/cases.json` and the titles of all tests. With `--check`, it only compares.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { casesPage, numberedTitles } from './case-table.mjs';

const page = 'docs/cases.md';
const tests = readdirSync('test', { recursive: true })
  .filter((name) => name.endsWith('.ts'))
  .sort()
  .flatMap((name) => numberedTitles(`test/${name}`, readFileSync(`test/${name}`, 'utf8')));
const text = casesPage(JSON.parse(readFileSync('scripts/cases.json', 'utf8')), tests);

if (!process.argv.includes('--check')) writeFileSync(page, text);
else if (text !== readOr(page)) {
  process.stderr.write(`${page} is stale: npm run generate\n`);
  process.exitCode = 1;
}

function readOr(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
