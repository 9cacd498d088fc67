/** A copy of a commit in a temporary folder, where files are mutated and tests run. */
import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import ts from 'typescript';

/** Time for a stopped test run to exit. */
const graceMs = 5_000;

/**
 * Clones the project's HEAD and links its packages instead of copying them. Paths are short, because golden texts wrap
 * long ones.
 */
export function makeCopy(project) {
  const base = mkdtempSync(join(realpathSync(tmpdir()), 'mw-'));
  const root = join(base, 'tree');
  const cloned = spawnSync('git', ['clone', '--quiet', '--shared', project, root], { stdio: 'inherit' });
  if (cloned.status !== 0) throw new Error('git could not clone the project');
  symlinkSync(realpathSync(join(project, 'node_modules')), join(root, 'node_modules'));
  const made = spawnSync(process.execPath, ['scripts/make-sources.mjs'], { cwd: root, stdio: 'inherit' });
  if (made.status !== 0) throw new Error('could not generate the modules of the copy');
  mkdirSync(join(base, 't'));
  return { base, root };
}

/**
 * Removes the copy and kills every process whose command line contains its path, because simulated Macs outlive a
 * stopped test.
 */
export function removeCopy({ base, running }) {
  if (running !== undefined) end(-running, 'SIGKILL');
  endLeft(base);
  rmSync(base, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}

function endLeft(base) {
  const { stdout } = spawnSync('ps', ['-axww', '-o', 'pid=,args='], { encoding: 'utf8', maxBuffer: 16 * 2 ** 20 });
  for (const line of stdout.split('\n').filter((one) => one.includes(base))) {
    end(Number.parseInt(line, 10), 'SIGKILL');
  }
}

function end(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

/**
 * Runs test files of one vitest project in the copy until the first failure.
 *
 * @returns `passed`, `failed` (with the failed files if known) or `late`, and the duration in seconds
 */
export async function runTests(copy, { project, files }, limitMs, env) {
  const { base, root } = copy;
  const results = join(base, 'results.json');
  rmSync(results, { force: true });
  const began = performance.now();
  const words = ['node_modules/vitest/vitest.mjs', 'run', '--project', project, '--bail', '1', ...files];
  const child = spawn(process.execPath, words, {
    cwd: root,
    env: {
      ...process.env,
      CI: '1',
      NO_COLOR: '1',
      TMPDIR: join(base, 't'),
      MESHWRIGHT_TESTS: 'all',
      MESHWRIGHT_DEPTH: 'few',
      MESHWRIGHT_RESULTS: results,
      ...env,
    },
    stdio: 'ignore',
    detached: true,
  });
  copy.running = child.pid;
  let isLate = false;
  const limit = setTimeout(() => {
    isLate = true;
    end(-child.pid, 'SIGTERM');
    setTimeout(() => end(-child.pid, 'SIGKILL'), graceMs).unref();
  }, limitMs);
  const code = await new Promise((settle) => child.on('close', settle));
  clearTimeout(limit);
  copy.running = undefined;
  endLeft(base);
  const seconds = (performance.now() - began) / 1_000;
  if (isLate) return { outcome: 'late', seconds, failed: [] };
  return { outcome: code === 0 ? 'passed' : 'failed', seconds, failed: code === 0 ? [] : failedFiles(results, root) };
}

function failedFiles(results, root) {
  if (!existsSync(results)) return [];
  const { testResults } = JSON.parse(readFileSync(results, 'utf8'));
  return testResults.filter(({ status }) => status === 'failed').map(({ name }) => relative(root, name));
}

/** Replaces the text of a file in the copy while `work` runs. */
export async function withText({ root }, file, text, work) {
  const path = join(root, file);
  const original = readFileSync(path, 'utf8');
  writeFileSync(path, text);
  try {
    return await work();
  } finally {
    writeFileSync(path, original);
  }
}

/**
 * Returns a function that checks whether a file compiles with a different text. Unused names and missing returns are
 * left to the linter, and do not reject a mutant.
 */
export function makeCompiles({ root }) {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options, fileNames } = ts.parseJsonConfigFileContent({ ...config, include: ['src'] }, ts.sys, root);
  const relaxed = {
    noUnusedLocals: false,
    noUnusedParameters: false,
    noImplicitReturns: false,
    allowUnreachableCode: true,
  };
  const changed = { version: 0 };
  const service = ts.createLanguageService({
    ...ts.sys,
    useCaseSensitiveFileNames: () => ts.sys.useCaseSensitiveFileNames,
    getCompilationSettings: () => ({ ...options, ...relaxed }),
    getScriptFileNames: () => fileNames,
    getScriptVersion: (path) => (path === changed.path ? String(changed.version) : '0'),
    getScriptSnapshot: (path) => {
      const text = path === changed.path ? changed.text : ts.sys.readFile(path);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => root,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
  });
  return (file, text) => {
    Object.assign(changed, { path: join(root, file), text, version: changed.version + 1 });
    const errors = [...service.getSyntacticDiagnostics(changed.path), ...service.getSemanticDiagnostics(changed.path)];
    return errors.length === 0;
  };
}
