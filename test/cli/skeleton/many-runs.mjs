/**
 * Runs command lines one after the other in one process, so that Node starts only once. A message `{ words }` is
 * answered with `{ code, stdout }`. The process loads the same code as `dist/cli/main.js` and keeps the environment it
 * was started with.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const [, , main] = process.argv;
const chunk = /require\("(\.\/run-[^"]+)"\)/.exec(readFileSync(main, 'utf8'))?.[1];
if (chunk === undefined) throw new Error(`${main} does not load its runner in the expected way: update this pattern`);
const { runCommandLine } = createRequire(main)(chunk);

// Every run adds its listeners to these streams.
for (const stream of [process.stdout, process.stderr]) stream.setMaxListeners(0);
let written = '';
process.stdout.write = (text) => {
  written += text;
  return true;
};
process.stderr.write = () => true;

process.on('message', async ({ words }) => {
  written = '';
  const code = await runCommandLine(words, process.env, process.cwd());
  process.send({ code, stdout: written });
});
process.on('disconnect', () => process.exit());
process.send('ready');
