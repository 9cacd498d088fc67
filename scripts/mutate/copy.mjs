/** A clone in the temporary folder, where files are mutated and tests run. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import ts from 'typescript';

function runOrThrow(cwd, program, ...words) {
  const { status } = spawnSync(program, words, { cwd, stdio: 'inherit' });
  if (status !== 0) throw new Error(`failed: ${program} ${words.join(' ')}`);
}

/**
 * Clones a commit of the project and links its packages instead of copying them. Paths are short, because golden texts
 * wrap long ones.
 */
export function makeCopy(project, commit, workers) {
  const base = mkdtempSync(join(realpathSync(tmpdir()), 'mw-'));
  const root = join(base, 'tree');
  runOrThrow(project, 'git', 'clone', '--quiet', '--shared', '--no-checkout', project, root);
  runOrThrow(root, 'git', 'checkout', '--quiet', '--detach', commit);
  symlinkSync(realpathSync(join(project, 'node_modules')), join(root, 'node_modules'));
  runOrThrow(root, process.execPath, 'scripts/make-sources.mjs');
  return { base, root, commit, workers };
}

/** Sends a signal to a process, or to a group if the number is negative. */
function end(signal, number) {
  try {
    process.kill(number, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

/** Kills every process whose command line contains the copy's path, because simulated Macs outlive a stopped test. */
function endLeft(base) {
  const { stdout } = spawnSync('ps', ['-axww', '-o', 'pid=,args='], { encoding: 'utf8', maxBuffer: 16 * 2 ** 20 });
  const left = stdout.split('\n').filter((line) => line.includes(base));
  for (const line of left) end('SIGKILL', Number.parseInt(line, 10));
}

/** Removes the copy and all processes that it left. */
export function removeCopy({ base, running }) {
  if (running !== undefined) end('SIGKILL', -running);
  endLeft(base);
  rmSync(base, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}

/**
 * Runs test files in the copy until the first failure, while a file of the copy has a different text.
 *
 * @returns `passed`, `failed` or `late`, the failed files if they are known, and the duration in seconds
 */
export async function runTests(copy, files, limitSeconds, { file, text }) {
  const { base, root, commit, workers } = copy;
  const results = join(base, 'results.json');
  writeFileSync(results, '{"testResults":[]}');
  const original = readFileSync(join(root, file));
  writeFileSync(join(root, file), text ?? original);
  const began = performance.now();
  const words = ['node_modules/vitest/vitest.mjs', 'run', '--bail', '1', '--maxWorkers', `${workers}`, ...files];
  const env = {
    // In CI, a failed test would run again.
    ...{ ...process.env, CI: undefined, NO_COLOR: '1', TMPDIR: base, MESHWRIGHT_TESTS: 'all' },
    ...{ MESHWRIGHT_DEPTH: 'few', MESHWRIGHT_RESULTS: results, MESHWRIGHT_COMMIT: commit },
  };
  const child = spawn(process.execPath, words, { cwd: root, env, stdio: 'ignore', detached: true });
  copy.running = child.pid;
  let outcome;
  const limit = setTimeout(() => {
    outcome = 'late';
    end('SIGTERM', -child.pid);
    setTimeout(() => end('SIGKILL', -child.pid), 5_000).unref();
  }, limitSeconds * 1_000);
  const code = await new Promise((settle) => child.on('close', settle));
  clearTimeout(limit);
  copy.running = undefined;
  endLeft(base);
  writeFileSync(join(root, file), original);
  outcome ??= code === 0 ? 'passed' : 'failed';
  const { testResults } = outcome === 'failed' ? JSON.parse(readFileSync(results, 'utf8')) : { testResults: [] };
  const failed = testResults.filter(({ status }) => status === 'failed').map(({ name }) => relative(root, name));
  return { outcome, failed, seconds: (performance.now() - began) / 1_000 };
}

/**
 * Returns a function that checks whether a file compiles with a different text. Unused names and missing returns are
 * left to the linter, and do not reject a mutant. A node script must only have a shell's syntax.
 */
export function makeCompiles(root) {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options, fileNames } = ts.parseJsonConfigFileContent({ ...config, include: ['src'] }, ts.sys, root);
  const lax = { noUnusedLocals: false, noUnusedParameters: false, noImplicitReturns: false };
  const changed = { version: 0 };
  const textOf = (path) => (path === changed.path ? changed.text : ts.sys.readFile(path));
  const service = ts.createLanguageService({
    ...ts.sys,
    useCaseSensitiveFileNames: () => ts.sys.useCaseSensitiveFileNames,
    getCompilationSettings: () => ({ ...options, ...lax, allowUnreachableCode: true }),
    getScriptFileNames: () => fileNames,
    getScriptVersion: (path) => (path === changed.path ? `${changed.version}` : '0'),
    getScriptSnapshot: (path) => ts.ScriptSnapshot.fromString(textOf(path) ?? ''),
    getCurrentDirectory: () => root,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
  });
  return (file, text) => {
    if (file.endsWith('.sh')) return spawnSync('sh', ['-n'], { input: text }).status === 0;
    Object.assign(changed, { path: join(root, file), text, version: changed.version + 1 });
    return ['getSyntacticDiagnostics', 'getSemanticDiagnostics'].every(
      (one) => service[one](changed.path).length === 0,
    );
  };
}
