/** Makes `src/model/cluster-spec.generated.ts` from the schema; with `--check` only compares. */
import { readFileSync, writeFileSync } from 'node:fs';
import { compile } from 'json-schema-to-typescript';

const target = 'src/model/cluster-spec.generated.ts';
const schema = JSON.parse(readFileSync('schemas/cluster.schema.json', 'utf8'));
const text = await compile(schema, 'ClusterSpec', {
  bannerComment: '// Generated from schemas/cluster.schema.json by `npm run generate`; never edited by hand.',
  additionalProperties: false,
  ignoreMinAndMaxItems: true,
  style: { singleQuote: true, printWidth: 120 },
});
if (process.argv.includes('--check')) {
  if (readFileSync(target, 'utf8') !== text) {
    process.stderr.write(`${target} is stale: npm run generate\n`);
    process.exitCode = 1;
  }
} else {
  writeFileSync(target, text);
}
