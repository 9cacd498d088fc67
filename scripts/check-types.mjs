/**
 * The gate for everything that needs the types of the whole project, which it reads once: the compiler's own errors, the
 * linter's rules about promises, unions and pure folders (`eslint.config.mjs`), and the docs of the library, that is a
 * docstring for each export, and a target for each link in a docstring of src.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ESLint } from 'eslint';
import { Application, OptionDefaults, ReflectionKind, TSConfigReader, TypeDocReader } from 'typedoc';
import ts from 'typescript';
import './make-sources.mjs';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

/** The project with its examples, which import the package by its name. */
function openProgram() {
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: (one) => Promise.reject(one) };
  const { options, fileNames } = ts.getParsedCommandLineOfConfigFile('tsconfig.json', {}, host);
  const examples = readdirSync('examples').filter((name) => name.endsWith('.ts'));
  return ts.createProgram({
    rootNames: [...fileNames, ...examples.map((name) => join('examples', name))],
    options: { ...options, paths: { meshwright: ['./src/index.ts'] } },
  });
}

function checkTypes(program) {
  const errors = ts.getPreEmitDiagnostics(program);
  const host = {
    getCurrentDirectory: () => process.cwd(),
    getCanonicalFileName: (name) => name,
    getNewLine: () => '\n',
  };
  process.stdout.write(ts.formatDiagnostics(errors, host));
  return errors.length === 0;
}

async function lint(program) {
  const languageOptions = { parserOptions: { projectService: false, programs: [program] } };
  const eslint = new ESLint({ overrideConfig: { files: ['**/*.ts'], languageOptions } });
  const results = await eslint.lintFiles(['src', 'test']);
  process.stdout.write(await (await eslint.loadFormatter('stylish')).format(results));
  return results.length > 0 && results.every(({ messages }) => messages.length === 0);
}

async function checkDocs(program) {
  // json-schema-to-typescript writes array limits as these tags.
  const blockTags = [...OptionDefaults.blockTags, '@minItems', '@maxItems'];
  const app = await Application.bootstrap({ blockTags }, [new TSConfigReader(), new TypeDocReader()]);
  const files = program.getSourceFiles().filter(({ fileName }) => /(?:^|\/)src\/(?!.*\.generated\.)/.test(fileName));
  const project = app.converter.convert(
    files
      .filter(({ fileName }) => !fileName.includes('node_modules'))
      .map((sourceFile) => ({
        displayName: sourceFile.fileName.replace(/^.*?src\//, '').replace(/\.ts$/, ''),
        program,
        sourceFile,
      })),
  );
  app.validate(project);
  const exported = project
    .getChildByName('index')
    ?.children?.filter(({ kind }) => kind === ReflectionKind.Reference)
    .map((reference) => reference.getTargetReflectionDeep());
  for (const one of exported ?? []) {
    const isDocumented = one.hasComment() || one.signatures?.some((signature) => signature.hasComment());
    if (!isDocumented) app.logger.validationWarning(`${one.getFullName()} does not have any documentation`);
  }
  process.stdout.write(`${exported?.length ?? 0} exports of the library checked\n`);
  return (exported?.length ?? 0) > 0 && !app.logger.hasErrors() && !app.logger.hasWarnings();
}

const program = openProgram();
const verdicts = [checkTypes(program), await lint(program), await checkDocs(program)];
process.exitCode = verdicts.every(Boolean) ? 0 : 1;
