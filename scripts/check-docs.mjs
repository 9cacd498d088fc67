/** Checks that each export of the library has a docstring, and each link in a docstring of src a target. */
import { fileURLToPath } from 'node:url';
import { Application, OptionDefaults, ReflectionKind, TSConfigReader, TypeDocReader } from 'typedoc';
import ts from 'typescript';
import './make-sources.mjs';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: (one) => Promise.reject(one) };
const { options, fileNames } = ts.getParsedCommandLineOfConfigFile('tsconfig.build.json', {}, host);
const program = ts.createProgram({ rootNames: fileNames, options });
// json-schema-to-typescript writes array limits as these tags.
const blockTags = [...OptionDefaults.blockTags, '@minItems', '@maxItems'];
const app = await Application.bootstrap({ blockTags }, [new TSConfigReader(), new TypeDocReader()]);
const project = app.converter.convert(
  program
    .getSourceFiles()
    .filter(({ fileName }) => /\/src\/(?!.*\.generated\.)/.test(fileName) && !fileName.includes('node_modules'))
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
const isGood = (exported?.length ?? 0) > 0 && !app.logger.hasErrors() && !app.logger.hasWarnings();
process.exitCode = isGood ? 0 : 1;
